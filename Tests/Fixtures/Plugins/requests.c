/*
 * A plugin with two identifiers, a refresh and a processing one, whose runs work on its own pending requests: a JSON string of steps, one
 * after the other, divided by ';'. Identifiers are written without IDENTIFIER, their common beginning: ".first", ".second".
 *
 *   submit NAME DELAY_S [TEXT]   submits to an own identifier, not before DELAY_S seconds from now
 *   submit-full NAME COUNT       submits COUNT requests with payloads of 65,536 bytes, for an hour from now
 *   list                         every pending request: "NAME TEXT KIND ATTEMPT" each, oldest first
 *   times                        of the oldest pending request: its attempt, and how far its earliest begin and next start are away, in seconds
 *   survey                       only how many there are, how many bytes they have, and whether they come oldest first
 *   list-calling                 lists with a visitor that calls the host back, from within: another listing, state, a submission
 *   cancel NAME|IDENTIFIER       cancels what is pending of an identifier
 *   cancel-all, cancel-one ID
 *   keep-handle, stale           the next run calls with the handle that this one kept
 *   misuse                       malformed arguments
 *   tables                       what `extension` gives for other names, and the table's size
 *   gate FIFO                    opens the FIFO for reading and waits until its other end is closed
 *   result-until N R             result R while the attempt is below N
 *
 * What the steps were told becomes the run's output, a JSON object.
 *
 * -DIDENTIFIER="…"; -DAT_LAUNCH=…: statements at the end of taskhost_plugin_launch, which may use `requests`, `launch`, `held` (submits) and
 * `told` (writes what is pending to the log).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "taskhost.h"

#ifndef IDENTIFIER
#define IDENTIFIER "test.requests"
#endif

static const taskhost_api *api;
static const taskhost_requests *requests;
static taskhost_task kept_handle;

typedef struct {
  taskhost_task task;
  taskhost_result result;
  char facts[8192];
  size_t length;
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

static const char *full(const char *name, char buffer[256]) {
  snprintf(buffer, 256, "%s%s", name[0] == '.' ? IDENTIFIER : "", name);
  return buffer;
}

static taskhost_request request_of(const char *identifier, const char *text, int64_t begin) {
  return (taskhost_request){.struct_size = sizeof(taskhost_request),
                            .identifier = identifier,
                            .payload = text,
                            .payload_length = strlen(text),
                            .earliest_begin_unix_ms = begin};
}

/* What a visitor of one listing gathers. */
typedef struct {
  run *self;
  char text[4096];
  uint64_t count, bytes, nested, failures;
  int is_ordered;
  char last[40];
  int64_t earliest, next;
  uint32_t attempt;
} gathered;

static void gather(const taskhost_pending_request *pending, void *context) {
  gathered *all = context;
  const char *payload = pending->payload;
  size_t length = strlen(all->text);
  if (pending->struct_size != sizeof *pending || !payload || payload[pending->payload_length] != 0) all->failures++;
  if (pending->payload_length < 100)
    snprintf(all->text + length, sizeof all->text - length, "%s\"%s %s %d %u\"", length ? "," : "",
             pending->identifier + strlen(IDENTIFIER), payload, pending->kind, pending->attempt);
  if (all->count == 0) {
    all->earliest = pending->earliest_begin_unix_ms;
    all->next = pending->next_start_unix_ms;
    all->attempt = pending->attempt;
    all->is_ordered = 1;
  }
  if (strlen(pending->request_id) != 36 || strcmp(pending->request_id, all->last) <= 0) all->is_ordered = 0;
  snprintf(all->last, sizeof all->last, "%s", pending->request_id);
  all->count++;
  all->bytes += pending->payload_length;
}

static void gather_calling(const taskhost_pending_request *pending, void *context) {
  gathered *all = context;
  gathered inner = {0};
  size_t length = 0;
  char again[256];
  snprintf(again, sizeof again, "%s", pending->identifier);
  gather(pending, all);
  if (requests->list(all->self->task, gather, &inner) != TASKHOST_OK) all->failures++;
  if (api->state_get(all->self->task, "nothing", NULL, 0, &length) != TASKHOST_ENOTFOUND) all->failures++;
  if (all->count == 1) {
    taskhost_request request = request_of(again, "from within", api->now_unix_ms(all->self->task) + 3600000);
    if (api->submit(all->self->task, &request, NULL) != TASKHOST_OK) all->failures++;
  }
  all->nested += inner.count;
}

static taskhost_status list(run *self, taskhost_request_visitor visit, gathered *all) {
  *all = (gathered){.self = self};
  taskhost_status status = requests->list(self->task, visit, all);
  fact(self, "status", "%d", status);
  fact(self, "failures", "%" PRIu64, all->failures);
  return status;
}

static void cancelled(run *self, taskhost_status status, uint64_t count) {
  fact(self, "cancel", "%d", status);
  fact(self, "cancelled", "%" PRIu64, count);
  fact(self, "has_sentence", "%d", status == TASKHOST_OK || strlen(api->last_error()) > 0);
}

static void step(run *self, char *text) {
  char *rest = NULL, buffer[256];
  char *name = strtok_r(text, " ", &rest);
  if (!name) return;
  char *first = strtok_r(NULL, " ", &rest);
  if (!first) first = "";
  taskhost_task task = self->task;
  gathered all;
  uint64_t count = 77;
#define IS(step_name) (strcmp(name, step_name) == 0)
  if (IS("submit")) {
    char *delay = strtok_r(NULL, " ", &rest);
    int64_t begin = delay && atoll(delay) ? api->now_unix_ms(task) + atoll(delay) * 1000 : 0;
    taskhost_request request = request_of(full(first, buffer), rest ? rest : "", begin);
    fact(self, "submit", "%d", api->submit(task, &request, NULL));
  } else if (IS("submit-full")) {
    static char bytes[65537];
    taskhost_status status = TASKHOST_OK;
    memset(bytes, 'x', sizeof bytes - 1);
    for (long left = atol(rest ? rest : ""); left > 0 && status == TASKHOST_OK; left--) {
      taskhost_request request = request_of(full(first, buffer), bytes, api->now_unix_ms(task) + 3600000);
      status = api->submit(task, &request, NULL);
    }
    fact(self, "submit", "%d", status);
  } else if (IS("list")) {
    list(self, gather, &all);
    fact(self, "list", "[%s]", all.text);
  } else if (IS("times")) {
    int64_t now = api->now_unix_ms(task);
    list(self, gather, &all);
    fact(self, "earliest_s", "%" PRId64, all.earliest ? (all.earliest - now + 500) / 1000 : -1);
    fact(self, "attempt", "%u", all.attempt);
    fact(self, "next_s", "%" PRId64, (all.next - now + 500) / 1000);
  } else if (IS("survey") || IS("list-calling")) {
    list(self, IS("survey") ? gather : gather_calling, &all);
    fact(self, "count", "%" PRIu64, all.count);
    fact(self, "bytes", "%" PRIu64, all.bytes);
    fact(self, "ordered", "%d", all.is_ordered);
    fact(self, "nested", "%" PRIu64, all.nested);
  } else if (IS("cancel")) {
    taskhost_status status = requests->cancel_identifier(task, full(first, buffer), &count);
    cancelled(self, status, count);
  } else if (IS("cancel-all")) {
    taskhost_status status = requests->cancel_all(task, &count);
    cancelled(self, status, count);
  } else if (IS("cancel-one")) {
    fact(self, "cancel", "%d", api->cancel(task, first));
  } else if (IS("keep-handle")) {
    kept_handle = task;
  } else if (IS("stale")) {
    fact(self, "stale_list", "%d", requests->list(kept_handle, gather, &all));
    fact(self, "stale_cancel", "%d", requests->cancel_identifier(kept_handle, IDENTIFIER ".first", &count));
    fact(self, "stale_cancel_all", "%d", requests->cancel_all(kept_handle, &count));
    fact(self, "no_launch_list", "%d", requests->launch_list(kept_handle, gather, &all));
    fact(self, "no_launch_cancel", "%d", requests->launch_cancel(kept_handle, NULL));
    fact(self, "count", "%" PRIu64, count);
  } else if (IS("misuse")) {
    fact(self, "no_visitor", "%d", requests->list(task, NULL, NULL));
    fact(self, "no_identifier", "%d", requests->cancel_identifier(task, NULL, &count));
    fact(self, "bad_identifier", "%d", requests->cancel_identifier(task, "no identifier", &count));
    fact(self, "no_count", "%d", requests->cancel_identifier(task, IDENTIFIER ".first", NULL));
    fact(self, "no_count_all", "%d", requests->cancel_all(task, NULL));
    fact(self, "count", "%" PRIu64, count);
  } else if (IS("tables")) {
    fact(self, "null", "%d", api->extension(NULL) == NULL);
    fact(self, "other", "%d", api->extension("org.taskhost.requests/999") == NULL && api->extension("") == NULL);
    fact(self, "same", "%d", api->extension(TASKHOST_EXTENSION_REQUESTS) == requests);
    fact(self, "size", "%d", requests->struct_size == sizeof(taskhost_requests) && requests->reserved == 0);
  } else if (IS("gate")) {
    int gate = open(first, O_RDONLY | O_CLOEXEC);
    char byte;
    if (gate < 0) return;
    while (read(gate, &byte, 1) > 0) {}
    close(gate);
  } else if (IS("result-until")) {
    if ((long)api->attempt(task) < atol(first)) self->result = atoi(rest ? rest : "");
  } else {
    self->result = 99;
  }
#undef IS
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  run self = {.task = task, .result = TASKHOST_SUCCESS};
  const void *bytes = NULL;
  size_t length = 0;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  char *text = strndup(bytes, length);
  if (!text) return TASKHOST_RETRY;
  char *start = text, *rest = NULL;
  if (length >= 2 && text[0] == '"') {
    text[length - 1] = 0;
    start++;
  }
  for (char *next = strtok_r(start, ";", &rest); next; next = strtok_r(NULL, ";", &rest)) step(&self, next);
  free(text);
  if (self.length) {
    char output[8300];
    int count = snprintf(output, sizeof output, "{%s}", self.facts);
    api->set_output(task, output, (size_t)count);
  }
  return self.result;
}

static taskhost_launch launch_handle;

static taskhost_status __attribute__((unused)) held(const char *identifier, const char *text) {
  /* Far in the future, so that it stays pending: the year 2100. */
  taskhost_request request = request_of(identifier, text, 4102444800000);
  return api->launch_submit(launch_handle, &request);
}

static void __attribute__((unused)) told(const char *title) {
  gathered all = {0};
  char line[5000];
  taskhost_status status = requests->launch_list(launch_handle, gather, &all);
  snprintf(line, sizeof line, "%s: status %d, %" PRIu64 " pending, %" PRIu64 " failures: %s", title, status, all.count, all.failures, all.text);
  api->launch_log(launch_handle, TASKHOST_NOTICE, line);
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit = 2;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  launch_handle = launch;
  requests = api->extension(TASKHOST_EXTENSION_REQUESTS);
  if (!requests) return TASKHOST_EUNSUPPORTED;
  taskhost_registration registration = {.struct_size = sizeof registration,
                                        .kind = TASKHOST_REFRESH,
                                        .identifier = IDENTIFIER ".first",
                                        .handler = handle,
                                        .max_concurrent_runs = 4};
  taskhost_status status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
  registration.identifier = IDENTIFIER ".second";
  registration.kind = TASKHOST_PROCESSING;
  status = api->register_handler(launch, &registration);
#ifdef AT_LAUNCH
  AT_LAUNCH;
#endif
  return status;
}
