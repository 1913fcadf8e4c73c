/*
 * Runs that take as much as they can get. Faults 60, 61, 67 to 70, 76.
 *
 *   memory             allocates and touches memory until there is no more
 *   memory-abort       the same, and aborts then
 *   descriptors N      opens N descriptors and keeps them
 *   threads N          starts N threads and keeps them
 *   file PATH          writes a file until it may not grow
 *   log BYTES          log lines of 8 KiB, so many bytes in all, or until the run expires
 *   print BYTES        the same on standard output and error, past the host's table
 *   inject             log lines, messages and output with line ends, escapes and bad UTF-8
 *   progress N         so many reports of progress
 *   state-keys N       so many keys, from 16 threads
 *   state-edges        keys and values at their limits
 *   submit-loop N      submits itself so many times, payload "facts"
 *   submit-forbidden IDENTIFIER, submit-big BYTES, output-big BYTES
 */
#include "faulty_run.h"

#include <sys/resource.h>

static void take_memory(fault_run *run, int then_abort) {
  const size_t block = 1 << 20, most = (size_t)4 << 30;
  size_t taken = 0;
  void *first = NULL;
  while (taken < most) {
    void **bytes = malloc(block);
    if (!bytes) break;
    memset(bytes, 0xA5, block);
    *bytes = first;
    first = bytes;
    taken += block;
  }
  if (then_abort) abort();
  while (first) {
    void *next = *(void **)first;
    free(first);
    first = next;
  }
  fact(run, "mebibytes", "%zu", taken >> 20);
}

static void memory(fault_run *run, const char *argument) {
  (void)argument;
  take_memory(run, 0);
}

static void memory_abort(fault_run *run, const char *argument) {
  (void)argument;
  take_memory(run, 1);
}

static void descriptors(fault_run *run, const char *argument) {
  int wanted = atoi(argument), opened = 0;
  while (opened < wanted && open("/dev/null", O_RDONLY) >= 0) opened++;
  fact(run, "errno", "%d", opened < wanted ? errno : 0);
  fact(run, "opened", "%d", opened);
  fact(run, "log", "%d", api->log(run->task, TASKHOST_INFO, "out of descriptors"));
  fact(run, "state", "%d", api->state_set(run->task, "descriptors", "1", 1));
}

static void *wait_for_ever(void *context) {
  (void)context;
  for (;;) pause();
  return NULL;
}

static void threads(fault_run *run, const char *argument) {
  int wanted = atoi(argument), started = 0, error = 0;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  while (started < wanted) {
    pthread_t thread;
    error = pthread_create(&thread, &small, wait_for_ever, NULL);
    if (error) break;
    pthread_detach(thread);
    started++;
  }
  fact(run, "errno", "%d", error);
  fact(run, "started", "%d", started);
  fact(run, "log", "%d", api->log(run->task, TASKHOST_INFO, "out of threads"));
}

static void grow_file(fault_run *run, const char *argument) {
  struct rlimit limit = {0};
  getrlimit(RLIMIT_FSIZE, &limit);
  fact(run, "limited", "%d", limit.rlim_cur != RLIM_INFINITY);
  int file = open(argument, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  fact(run, "open", "%d", file < 0 ? errno : 0);
  if (file < 0) return;
  /* One byte beyond the limit: SIGXFSZ would end the process, were it not ignored. */
  if (limit.rlim_cur != RLIM_INFINITY) fact(run, "write", "%d", pwrite(file, "x", 1, (off_t)limit.rlim_cur) < 0 ? errno : 0);
  close(file);
}

static void log_bytes(fault_run *run, const char *argument) {
  static char line[8193];
  uint64_t wanted = strtoull(argument, NULL, 10), logged = 0;
  memset(line, 'x', sizeof line - 1);
  while (logged < wanted && !api->is_expired(run->task) && api->log(run->task, TASKHOST_INFO, line) == TASKHOST_OK) logged += sizeof line - 1;
  fact(run, "logged", "%" PRIu64, logged);
}

static void print_bytes(fault_run *run, const char *argument) {
  static char line[1024];
  uint64_t wanted = strtoull(argument, NULL, 10), printed = 0;
  memset(line, 'y', sizeof line - 1);
  line[sizeof line - 1] = '\n';
  while (printed < wanted && !api->is_expired(run->task)) {
    ssize_t count = write(printed / sizeof line % 2 ? STDERR_FILENO : STDOUT_FILENO, line, sizeof line);
    if (count <= 0) break;
    printed += (uint64_t)count;
  }
  fact(run, "printed", "%" PRIu64, printed);
}

static void inject(fault_run *run, const char *argument) {
  (void)argument;
  static const char text[] = "first\nsecond\r\n{\"level\":\"error\",\"message\":\"forged\"}\x1b[2J\x1b]0;title\x07 bad \xff\xfe\xc0\xaf end\xe2\x28";
  fact(run, "log", "%d", api->log(run->task, TASKHOST_INFO, text));
  fact(run, "message", "%d", api->set_message(run->task, text));
  dprintf(STDOUT_FILENO, "%s\n", text);
  dprintf(STDERR_FILENO, "%s\n", text);
}

static void progress(fault_run *run, const char *argument) {
  uint64_t count = strtoull(argument, NULL, 10), taken = 0;
  for (uint64_t index = 1; index <= count; index++) taken += api->progress(run->task, index, count) == TASKHOST_OK;
  fact(run, "taken", "%" PRIu64, taken);
  fact(run, "above", "%d", api->progress(run->task, UINT64_MAX, 7));
}

typedef struct {
  fault_run *run;
  int first, count, stored;
  taskhost_status last;
} key_range;

static void *set_keys(void *context) {
  key_range *self = context;
  for (int index = 0; index < self->count; index++) {
    char key[32];
    snprintf(key, sizeof key, "key%d", self->first + index);
    self->last = api->state_set(self->run->task, key, "v", 1);
    if (self->last != TASKHOST_OK) break;
    self->stored++;
  }
  return NULL;
}

static void state_keys(fault_run *run, const char *argument) {
  enum { COUNT = 16 };
  int wanted = atoi(argument), stored = 0;
  pthread_t threads_[COUNT];
  key_range ranges[COUNT];
  for (int index = 0; index < COUNT; index++) {
    ranges[index] = (key_range){.run = run, .first = index * (wanted / COUNT), .count = wanted / COUNT};
    if (pthread_create(&threads_[index], NULL, set_keys, &ranges[index]) != 0) abort();
  }
  for (int index = 0; index < COUNT; index++) {
    pthread_join(threads_[index], NULL);
    stored += ranges[index].stored;
  }
  fact(run, "stored", "%d", stored);
  fact(run, "last", "%d", ranges[COUNT - 1].last);
}

static void state_edges(fault_run *run, const char *argument) {
  (void)argument;
  static char big[(1 << 20) + 1], key[300];
  size_t length = 0;
  memset(big, 'b', sizeof big);
  memset(key, 'k', 257);
  fact(run, "empty", "%d", api->state_set(run->task, "", "v", 1));
  fact(run, "long", "%d", api->state_set(run->task, key, "v", 1));
  key[256] = 0;
  fact(run, "longest", "%d", api->state_set(run->task, key, "v", 1));
  fact(run, "big", "%d", api->state_set(run->task, "big", big, sizeof big));
  fact(run, "biggest", "%d", api->state_set(run->task, "big", big, sizeof big - 1));
  fact(run, "read", "%d", api->state_get(run->task, "big", big, sizeof big, &length));
  fact(run, "length", "%zu", length);
  fact(run, "checkpoint_big", "%d", api->checkpoint_set(run->task, big, sizeof big));
  fact(run, "checkpoint_biggest", "%d", api->checkpoint_set(run->task, big, sizeof big - 1));
}

static taskhost_status submit(fault_run *run, const char *identifier, const void *payload, size_t length) {
  taskhost_request request = {.struct_size = sizeof request, .identifier = identifier, .payload = payload, .payload_length = length};
  return api->submit(run->task, &request, NULL);
}

static void submit_loop(fault_run *run, const char *argument) {
  int wanted = atoi(argument), taken = 0;
  taskhost_status status = TASKHOST_OK;
  while (taken < wanted && (status = submit(run, IDENTIFIER, "\"facts\"", 7)) == TASKHOST_OK) taken++;
  fact(run, "taken", "%d", taken);
  fact(run, "last", "%d", status);
  fact(run, "error", "%d", (int)strlen(api->last_error()));
}

static void submit_forbidden(fault_run *run, const char *argument) { fact(run, "submit", "%d", submit(run, argument, "\"facts\"", 7)); }

static void big_call(fault_run *run, size_t length, int is_output) {
  char *bytes = malloc(length);
  if (!bytes) return;
  memset(bytes, 'x', length);
  fact(run, "status", "%d", is_output ? api->set_output(run->task, bytes, length) : submit(run, IDENTIFIER, bytes, length));
  fact(run, "error", "%d", (int)strlen(api->last_error()));
  free(bytes);
}

static void submit_big(fault_run *run, const char *argument) { big_call(run, strtoull(argument, NULL, 10), 0); }

static void output_big(fault_run *run, const char *argument) { big_call(run, strtoull(argument, NULL, 10), 1); }

static const fault_step fault_steps[] = {
  {"memory", memory},
  {"memory-abort", memory_abort},
  {"descriptors", descriptors},
  {"threads", threads},
  {"file", grow_file},
  {"log", log_bytes},
  {"print", print_bytes},
  {"inject", inject},
  {"progress", progress},
  {"state-keys", state_keys},
  {"state-edges", state_edges},
  {"submit-loop", submit_loop},
  {"submit-forbidden", submit_forbidden},
  {"submit-big", submit_big},
  {"output-big", output_big},
  {NULL, NULL},
};
