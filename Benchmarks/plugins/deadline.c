/*
 * deadline.c - runs until its budget of 100 ms is spent and notes how late the expiration handler was called.
 *
 * The clock starts just before the handler is called, so that its first moment plus the budget is the deadline. Nothing is told before the
 * last of the expected runs, after each of which the count starts anew: who reads would take time from the two cores.
 */
#include "bench.h"

#include <pthread.h>

enum { budget_ms = 100, most_samples = 100000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t late[most_samples];
static int64_t noted;

typedef struct {
  int64_t deadline;
  int64_t expired; /* 0: not yet */
  pthread_cond_t changed;
} wait_state;

static void note_expiration(taskhost_task task, taskhost_stop_reason reason, void *context) {
  const int64_t now = bench_now(CLOCK_MONOTONIC);
  (void)task;
  (void)reason;
  wait_state *state = context;
  pthread_mutex_lock(&mutex);
  state->expired = now;
  pthread_cond_signal(&state->changed);
  pthread_mutex_unlock(&mutex);
}

static taskhost_result wait_for_expiration(taskhost_task task, void *context) {
  (void)context;
  wait_state state = {.deadline = bench_now(CLOCK_MONOTONIC) + budget_ms * 1000000, .changed = PTHREAD_COND_INITIALIZER};
  if (host->set_expiration_handler(task, note_expiration, &state) != TASKHOST_OK) return TASKHOST_FAILURE;
  pthread_mutex_lock(&mutex);
  while (state.expired == 0) pthread_cond_wait(&state.changed, &mutex);
  if (noted < most_samples) late[noted++] = state.expired - state.deadline;
  const int is_last = noted == expected_runs;
  if (is_last) noted = 0; /* more are submitted only when all is read */
  pthread_mutex_unlock(&mutex);
  host->set_expiration_handler(task, NULL, NULL); /* waits until the handler has left `state` */
  if (is_last) {
    for (int64_t sample = 0; sample < expected_runs; sample++) {
      char line[32];
      bench_tell(line, (size_t)snprintf(line, sizeof line, "%lld\n", (long long)late[sample]));
    }
  }
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  return bench_register(api, launch, "org.taskhost.bench.deadline", wait_for_expiration, budget_ms, 4);
}
