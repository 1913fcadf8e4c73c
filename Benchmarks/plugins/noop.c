/* noop.c - a handler that does nothing but count; the last run of those expected tells the benchmark. */
#include "bench.h"

#include <stdatomic.h>

static _Atomic int64_t runs;

static taskhost_result count_run(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  if (atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed) + 1 == expected_runs) bench_tell("x", 1);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  return bench_register(api, launch, "org.taskhost.bench.noop", count_run, 0, 16);
}
