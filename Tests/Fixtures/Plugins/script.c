/*
 * A well-behaved plugin whose runs do what their payload says: a JSON string of steps, one after the other, divided by ';'.
 *
 *   result N                the handler's result; without it SUCCESS
 *   result-until N R        result R while the attempt is below N
 *   message TEXT, log LEVEL TEXT, output TEXT, echo, retry-after MS, progress COMPLETED TOTAL
 *   work ATTEMPTED COMPLETED FAILED IN OUT, progress-with COMPLETED TOTAL UNIT MESSAGE
 *   assert NAME MS          takes an execution assertion; assert-end ends the last one
 *   gate FIFO               opens the FIFO for reading and waits until its other end is closed; heeds no expiration
 *   sleep MS                the host's sleep
 *   on-expire               sets an expiration handler
 *   wait-expired            waits for that handler
 *   poll MS                 waits for the expiration descriptor
 *   note FILE               appends "REQUEST ATTEMPT" to a file, with one write
 *   alter FILE MODE         how many calls that change the mode, owner, times or attributes of a file by its path worked; as the fact FILE
 *   alter-open FILE MODE    opens the file for reading and changes its mode
 *   environment NAME        what a variable of the environment is
 *   facts                   what the host says about the run
 *   snooze-times N          SNOOZE while fewer than N runs of the request have; counts them in the checkpoint
 *   state-set K V, state-get K, checkpoint-set V, checkpoint-get
 *   submit IDENTIFIER PAYLOAD, submit-bytes COUNT, output-bytes COUNT
 *   notify EVENT [PAYLOAD]  raises an event
 *   show ID, why ID, live [IDENTIFIER], history IDENTIFIER LIMIT, last-success IDENTIFIER, conditions: a list of JSON objects, as the fact "texts"
 *   trace                   what the run's trace is
 *   span NAME ATTRIBUTES    tells of a part of the run of one second, long ago; ' stands for "
 *   postpone ID MS, reprioritize ID PRIORITY
 *   late                    registers again, from the run and from another thread
 *   leave FIFO FIFO         leaves a thread behind, which waits for the first FIFO, calls the host, and writes what it was told to the second
 *
 * What the steps were told becomes the run's output, a JSON object, unless "output", "echo" or "output-bytes" set another.
 *
 * -DIDENTIFIER="…", -DKIND=…, -DMAX_RUNS=…, -DBUDGET_MS=…; -DSHUTDOWN: a hook that appends to the file `shutdown` in the data directory, with -DSHUTDOWN_HANGS it never returns;
 * -DLAUNCH_MS=…: its launch takes that long; -DLAUNCH_SUBMIT: submits a request while launching; -DLAUNCH_LOG: writes its settings to the log; -DLAUNCH_PRINT: prints a line without an end while launching; -DALWAYS_ECHO: every payload is its
 * run's output, and no script.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "taskhost.h"

#ifndef IDENTIFIER
#define IDENTIFIER "test.script"
#endif
#ifndef KIND
#define KIND TASKHOST_PROCESSING
#endif
#ifndef MAX_RUNS
#define MAX_RUNS 4
#endif
#ifndef BUDGET_MS
#define BUDGET_MS 0
#endif

static const taskhost_api *api;
static const taskhost_records *records;
static const taskhost_requests_2 *requests;
static const taskhost_trace *traces;
static const taskhost_assertions *assertions;
static taskhost_launch launch_handle;
static taskhost_registration registration;

/* What one run knows. */
typedef struct {
  taskhost_task task;
  taskhost_result result;
  int owns_output;
  char facts[8192];
  size_t length;
  char texts[6000];
  size_t texts_length;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int expired;
  taskhost_assertion assertion;
} run;

static void fact(run *self, const char *name, const char *format, ...) {
  char value[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  int written = snprintf(self->facts + self->length, sizeof self->facts - self->length, "%s\"%s\":%s", self->length ? "," : "", name, value);
  if (written > 0 && self->length + (size_t)written < sizeof self->facts) self->length += (size_t)written;
}

static void expired(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  run *self = context;
  pthread_mutex_lock(&self->lock);
  self->expired = reason;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->lock);
}

static void pass_gate(const char *path) {
  int gate = open(path, O_RDONLY | O_CLOEXEC);
  char byte;
  if (gate < 0) return;
  while (read(gate, &byte, 1) > 0) {}
  close(gate);
}

static taskhost_status submit(run *self, const char *identifier, const void *payload, size_t length) {
  taskhost_request request = {.struct_size = sizeof request, .identifier = identifier, .payload = payload, .payload_length = length};
  taskhost_submission submission = {.struct_size = sizeof submission};
  taskhost_status status = api->submit(self->task, &request, &submission);
  fact(self, "submit", "%d", status);
  if (status == TASKHOST_OK) fact(self, "submitted", "\"%s\"", submission.request_id);
  else fact(self, "submit_error", "%d", (int)strlen(api->last_error()));
  return status;
}

static void gather_text(const char *json, size_t length, void *context) {
  run *self = context;
  if (json[length] != 0 || length > sizeof self->texts - self->texts_length - 4) return;
  self->texts_length += (size_t)sprintf(self->texts + self->texts_length, "%s%s", self->texts_length ? "," : "", json);
}

/* The status of a question or change, and the sentence of a refusal. */
static void answered(run *self, taskhost_status status) {
  fact(self, "status", "%d", status);
  if (status != TASKHOST_OK && !strpbrk(api->last_error(), "\"\\")) fact(self, "error", "\"%s\"", api->last_error());
}

static void texts(run *self, taskhost_status status) {
  answered(self, status);
  int written = snprintf(self->facts + self->length, sizeof self->facts - self->length, ",\"texts\":[%s]", self->texts);
  if (written > 0 && self->length + (size_t)written < sizeof self->facts) self->length += (size_t)written;
}

static void *register_late(void *status) {
  *(taskhost_status *)status = api->register_handler(launch_handle, &registration);
  return NULL;
}

typedef struct {
  taskhost_task task;
  char gate[256], answer[256];
} left_thread;

static void *use_stale_handle(void *pointer) {
  left_thread *self = pointer;
  pass_gate(self->gate);
  const void *bytes = NULL;
  size_t length = 0;
  char buffer[8];
  taskhost_request request = {.struct_size = sizeof request, .identifier = IDENTIFIER};
  FILE *answer = fopen(self->answer, "we");
  if (answer) {
    fprintf(answer,
            "{\"payload\":%d,\"identifier\":\"%s\",\"request_id\":\"%s\",\"attempt\":%u,\"remaining_is_min\":%d,\"grace\":%" PRId64
            ",\"is_expired\":%d,\"stop_reason\":%d,\"fd\":%d,\"handler\":%d,\"progress\":%d,\"log\":%d,\"output\":%d,\"message\":%d,"
            "\"retry_after\":%d,\"now\":%" PRId64 ",\"sleep\":%d,\"state_get\":%d,\"state_set\":%d,\"checkpoint_get\":%d,"
            "\"checkpoint_set\":%d,\"submit\":%d,\"cancel\":%d,\"zero\":%d,\"random\":%d,\"late\":%d}",
            api->payload(self->task, &bytes, &length), api->identifier(self->task), api->request_id(self->task), api->attempt(self->task),
            api->remaining_ms(self->task) == INT64_MIN, api->grace_ms(self->task), api->is_expired(self->task),
            api->stop_reason(self->task), api->expiration_fd(self->task), api->set_expiration_handler(self->task, expired, NULL),
            api->progress(self->task, 1, 2), api->log(self->task, TASKHOST_INFO, "stale"), api->set_output(self->task, "x", 1),
            api->set_message(self->task, "stale"), api->retry_after(self->task, 1), api->now_unix_ms(self->task),
            api->sleep(self->task, 1), api->state_get(self->task, "k", buffer, sizeof buffer, &length),
            api->state_set(self->task, "k", "v", 1), api->checkpoint_get(self->task, buffer, sizeof buffer, &length),
            api->checkpoint_set(self->task, "v", 1), api->submit(self->task, &request, NULL),
            api->cancel(self->task, "01976c1e-0000-7000-8000-000000000000"), api->log(0, TASKHOST_INFO, "zero"),
            api->log(UINT64_C(0x5a5aa5a5deadbeef), TASKHOST_INFO, "random"), api->register_handler(launch_handle, &registration));
    fclose(answer);
  }
  free(self);
  return NULL;
}

static void leave_thread(run *self, const char *gate, const char *answer) {
  left_thread *left = calloc(1, sizeof *left);
  if (!left) return;
  left->task = self->task;
  snprintf(left->gate, sizeof left->gate, "%s", gate);
  snprintf(left->answer, sizeof left->answer, "%s", answer);
  pthread_t thread;
  if (pthread_create(&thread, NULL, use_stale_handle, left) == 0) pthread_detach(thread);
}

static void step(run *self, char *text) {
  char *rest = NULL;
  char *name = strtok_r(text, " ", &rest);
  if (!name) return;
  char *first = strtok_r(NULL, " ", &rest);
  if (!first) first = "";
  const char *all_rest = rest ? rest : "";
  long number = atol(first);
  taskhost_task task = self->task;
#define IS(step_name) (strcmp(name, step_name) == 0)
  if (IS("result")) self->result = (taskhost_result)number;
  else if (IS("result-until")) { if ((long)api->attempt(task) < number) self->result = atoi(all_rest); }
  else if (IS("message")) {
    char message[512];
    snprintf(message, sizeof message, "%s%s%s", first, *all_rest ? " " : "", all_rest);
    fact(self, "message", "%d", api->set_message(task, message));
  }
  else if (IS("log")) fact(self, "log", "%d", api->log(task, (taskhost_log_level)number, all_rest));
  else if (IS("output")) { self->owns_output = 1; api->set_output(task, first, strlen(first)); }
  else if (IS("echo")) {
    const void *bytes;
    size_t length;
    self->owns_output = 1;
    if (api->payload(task, &bytes, &length) == TASKHOST_OK) api->set_output(task, bytes, length);
  }
  else if (IS("retry-after")) fact(self, "retry_after", "%d", api->retry_after(task, (uint64_t)number));
  else if (IS("progress")) fact(self, "progress", "%d", api->progress(task, (uint64_t)number, (uint64_t)atoll(all_rest)));
  else if (IS("work")) {
    unsigned long long counts[5] = {strtoull(first, NULL, 10)};
    sscanf(all_rest, "%llu %llu %llu %llu", &counts[1], &counts[2], &counts[3], &counts[4]);
    const taskhost_work work = {.struct_size = sizeof work, .items_attempted = counts[0], .items_completed = counts[1],
      .items_failed = counts[2], .bytes_in = counts[3], .bytes_out = counts[4]};
    fact(self, "work", "%d", records ? records->work(task, &work) : TASKHOST_EUNSUPPORTED);
  }
  else if (IS("progress-with")) {
    unsigned long long total = 0;
    char unit[64] = "", message[512] = "";
    sscanf(all_rest, "%llu %63s %511[^;]", &total, unit, message);
    taskhost_status status = TASKHOST_EUNSUPPORTED;
    if (records) status = records->progress(task, strtoull(first, NULL, 10), total, unit, message);
    fact(self, "progress_with", "%d", status);
  }
  else if (IS("assert")) {
    const taskhost_assertion_request request = {.struct_size = sizeof request, .name = first, .for_ms = strtoull(all_rest, NULL, 10)};
    fact(self, "assert", "%d", assertions ? assertions->begin(task, &request, &self->assertion) : TASKHOST_EUNSUPPORTED);
  }
  else if (IS("assert-end")) fact(self, "assert_end", "%d", assertions ? assertions->end(task, self->assertion) : TASKHOST_EUNSUPPORTED);
  else if (IS("gate")) pass_gate(first);
  else if (IS("sleep")) fact(self, "sleep", "%d", api->sleep(task, (uint64_t)number));
  else if (IS("on-expire")) fact(self, "on_expire", "%d", api->set_expiration_handler(task, expired, self));
  else if (IS("wait-expired")) {
    pthread_mutex_lock(&self->lock);
    while (!self->expired) pthread_cond_wait(&self->changed, &self->lock);
    fact(self, "expired_by", "%d", self->expired);
    pthread_mutex_unlock(&self->lock);
    fact(self, "is_expired", "%d", api->is_expired(task));
    fact(self, "remaining_after", "%" PRId64, api->remaining_ms(task));
    fact(self, "grace_after", "%" PRId64, api->grace_ms(task));
    fact(self, "set_after", "%d", api->set_expiration_handler(task, expired, self));
    fact(self, "sleep_after", "%d", api->sleep(task, 60000));
  }
  else if (IS("poll")) {
    struct pollfd descriptor = {.fd = api->expiration_fd(task), .events = POLLIN};
    fact(self, "fd", "%d", descriptor.fd);
    fact(self, "poll", "%d", poll(&descriptor, 1, (int)number));
    fact(self, "stop_reason", "%d", api->stop_reason(task));
  }
  else if (IS("note")) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s %u\n", api->request_id(task), api->attempt(task));
    int file = open(first, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
      fact(self, "note", "%d", write(file, line, (size_t)length) == length);
      close(file);
    }
  }
  else if (IS("alter")) {
    mode_t mode = (mode_t)strtoul(all_rest, NULL, 8);
    int worked = 0;
    worked += chmod(first, mode) == 0;
    worked += fchmodat(AT_FDCWD, first, mode, 0) == 0;
    worked += chown(first, getuid(), getgid()) == 0;
    worked += utimes(first, NULL) == 0;
    worked += setxattr(first, "user.test", "1", 1, 0) == 0;
    fact(self, first, "%d", worked);
  }
  else if (IS("alter-open")) {
    int file = open(first, O_RDONLY | O_CLOEXEC);
    fact(self, "alter_open", "%d", file >= 0 && fchmod(file, (mode_t)strtoul(all_rest, NULL, 8)) == 0);
    if (file >= 0) close(file);
  }
  else if (IS("environment")) {
    const char *value = getenv(first);
    fact(self, first, "\"%s\"", value ? value : "");
  }
  else if (IS("facts")) {
    fact(self, "identifier", "\"%s\"", api->identifier(task));
    fact(self, "request_id", "\"%s\"", api->request_id(task));
    fact(self, "attempt", "%u", api->attempt(task));
    fact(self, "remaining", "%" PRId64, api->remaining_ms(task));
    fact(self, "grace", "%" PRId64, api->grace_ms(task));
    fact(self, "is_expired", "%d", api->is_expired(task));
    fact(self, "stop_reason", "%d", api->stop_reason(task));
    fact(self, "now", "%" PRId64, api->now_unix_ms(task));
  }
  else if (IS("state-set")) fact(self, "state_set", "%d", api->state_set(task, first, *all_rest ? all_rest : NULL, strlen(all_rest)));
  else if (IS("state-get") || IS("checkpoint-get")) {
    char value[1024];
    size_t length = 0;
    int state = IS("state-get");
    taskhost_status status =
      state ? api->state_get(task, first, value, sizeof value, &length) : api->checkpoint_get(task, value, sizeof value, &length);
    if (status == TASKHOST_OK) fact(self, state ? "state" : "checkpoint", "\"%.*s\"", (int)length, value);
    fact(self, state ? "state_get" : "checkpoint_get", "%d", status);
  }
  else if (IS("checkpoint-set")) fact(self, "checkpoint_set", "%d", api->checkpoint_set(task, first, strlen(first)));
  else if (IS("snooze-times")) {
    int count = 0;
    size_t length = 0;
    api->checkpoint_get(task, &count, sizeof count, &length);
    if (count++ < number && api->checkpoint_set(task, &count, sizeof count) == TASKHOST_OK) self->result = TASKHOST_SNOOZE;
  }
  else if (IS("submit")) {
    char payload[512];
    snprintf(payload, sizeof payload, "\"%s\"", all_rest);
    submit(self, first, payload, strlen(payload));
  }
  else if (IS("submit-bytes") || IS("output-bytes")) {
    char *bytes = calloc(1, (size_t)number + 1);
    if (bytes) {
      memset(bytes, 'x', (size_t)number);
      if (IS("submit-bytes")) submit(self, IDENTIFIER, bytes, (size_t)number);
      else fact(self, "output", "%d", api->set_output(task, bytes, (size_t)number));
      free(bytes);
    }
  }
  else if (IS("notify")) {
    uint64_t waiting = 0;
    taskhost_status status = TASKHOST_EUNSUPPORTED;
    if (requests) status = requests->notify_event(task, first, *all_rest ? all_rest : NULL, strlen(all_rest), &waiting);
    fact(self, "notify", "%d", status);
    if (status == TASKHOST_OK) fact(self, "waiting", "%" PRIu64, waiting);
  }
  else if (IS("trace")) {
    char own[TASKHOST_TRACEPARENT_SIZE] = "", linked[TASKHOST_TRACEPARENT_SIZE] = "";
    fact(self, "trace", "%d", traces->current(task, own, linked));
    fact(self, "traceparent", "\"%s\"", own);
    fact(self, "link", "\"%s\"", linked);
  }
  else if (IS("span")) {
    for (char *quote = rest; quote && *quote; quote++) if (*quote == '\'') *quote = '"';
    const char *attributes = *all_rest ? all_rest : NULL;
    fact(self, "span", "%d", traces->span(task, first, 1700000000000000000, 1700000001000000000, attributes, 0));
  }
  else if (IS("show")) texts(self, requests->show(task, first, gather_text, self));
  else if (IS("why")) texts(self, requests->why(task, first, gather_text, self));
  else if (IS("live")) texts(self, requests->list(task, *first ? first : NULL, gather_text, self));
  else if (IS("history")) texts(self, requests->runs(task, first, (uint32_t)atoi(all_rest), gather_text, self));
  else if (IS("last-success")) texts(self, requests->last_success(task, first, gather_text, self));
  else if (IS("conditions")) texts(self, requests->conditions(task, gather_text, self));
  else if (IS("postpone")) {
    taskhost_submission submission = {.struct_size = sizeof submission};
    answered(self, requests->snooze(task, first, (uint64_t)atoll(all_rest), &submission));
    fact(self, "start", "%" PRId64, submission.next_start_unix_ms);
  }
  else if (IS("reprioritize")) {
    taskhost_request request = {.struct_size = sizeof request, .identifier = IDENTIFIER, .priority = atoi(all_rest)};
    answered(self, requests->update(task, first, &request, NULL));
  }
  else if (IS("late")) {
    taskhost_status here = 0, there = 0;
    pthread_t thread;
    register_late(&here);
    if (pthread_create(&thread, NULL, register_late, &there) == 0) pthread_join(thread, NULL);
    fact(self, "late", "%d", here);
    fact(self, "late_thread", "%d", there);
  }
  else if (IS("leave")) leave_thread(self, first, all_rest);
  else self->result = 99;
#undef IS
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  run self = {.task = task, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  const void *bytes = NULL;
  size_t length = 0;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
#ifdef ALWAYS_ECHO
  return api->set_output(task, bytes, length) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
#endif
  char *text = strndup(bytes, length);
  if (!text) return TASKHOST_RETRY;
  char *start = text, *rest = NULL;
  if (length >= 2 && text[0] == '"') {
    text[length - 1] = 0;
    start++;
  }
  for (char *next = strtok_r(start, ";", &rest); next; next = strtok_r(NULL, ";", &rest)) step(&self, next);
  free(text);
  api->set_expiration_handler(task, NULL, NULL);
  if (self.length && !self.owns_output) {
    char output[8300];
    int count = snprintf(output, sizeof output, "{%s}", self.facts);
    api->set_output(task, output, (size_t)count);
  }
  return self.result;
}

#ifdef SHUTDOWN
static char shutdown_file[512];
TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
  int file = open(shutdown_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, "called\n", 7) != 7) abort();
  close(file);
#ifdef SHUTDOWN_HANGS
  for (;;) pause();
#endif
}
#endif

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

/* SECOND: another identifier that it serves. ASKS: what its note says that it needs. */
#ifdef SECOND
TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit = 2;
#endif
#ifdef ASKS
TASKHOST_PLUGIN_NOTE_LINES("identifier=" IDENTIFIER "\nasks=" ASKS "\n");
#endif

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  records = api->extension(TASKHOST_EXTENSION_RECORDS);
  requests = api->extension(TASKHOST_EXTENSION_REQUESTS_2);
  traces = api->extension(TASKHOST_EXTENSION_TRACE);
  assertions = api->extension(TASKHOST_EXTENSION_ASSERTIONS);
  launch_handle = launch;
#ifdef LAUNCH_MS
  poll(NULL, 0, LAUNCH_MS);
#endif
  registration = (taskhost_registration){.struct_size = sizeof registration,
                                         .kind = KIND,
                                         .identifier = IDENTIFIER,
                                         .handler = handle,
                                         .display_name = "Script",
                                         .version = "1.2.3",
                                         .budget_ms = BUDGET_MS,
                                         .max_concurrent_runs = MAX_RUNS};
  taskhost_status status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
#ifdef SECOND
  static taskhost_registration second;
  second = registration;
  second.identifier = SECOND;
  status = api->register_handler(launch, &second);
  if (status != TASKHOST_OK) return status;
#endif
#ifdef SHUTDOWN
  snprintf(shutdown_file, sizeof shutdown_file, "%s/shutdown", api->data_directory(launch));
#endif
#ifdef LAUNCH_PRINT
  printf("printed at launch");
#endif
#ifdef LAUNCH_LOG
  api->launch_log(launch, TASKHOST_NOTICE, api->configuration(launch));
#endif
#ifdef LAUNCH_SUBMIT
  taskhost_request request = {.struct_size = sizeof request,
                              .identifier = IDENTIFIER,
                              .payload = "\"log 2 submitted at launch\"",
                              .payload_length = 26,
                              .unique_key = "launch",
                              .on_conflict = TASKHOST_CONFLICT_KEEP};
  return api->launch_submit(launch, &request);
#else
  return TASKHOST_OK;
#endif
}
