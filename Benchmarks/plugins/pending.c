/* pending.c - like noop.c, for the identifier number NUMBER; its handler tells every time that the expected number of runs is full. */
#include "bench.h"

#include <stdatomic.h>

static _Atomic int64_t runs;

static taskhost_result count_run(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  const int64_t count = atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed) + 1;
  if (expected_runs > 0 && count % expected_runs == 0) bench_tell("1\n", 2);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  char identifier[64];
  snprintf(identifier, sizeof identifier, "org.taskhost.bench.pending%d", NUMBER);
  return bench_register(api, launch, identifier, count_run, 0, 16);
}
