/*
 * Reports progress every 20 ms, values[20] times, and then the same again and again until it expires.
 * values: 0 stop_reason in the end, 1 milliseconds until then, 2 the largest remaining_ms seen. Faults: 68.
 */
#define KIND TASKHOST_CONTINUED
#include "runtime_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  int64_t begin = now_ns(), steps = probe->values[20];
  for (int64_t step = 0; !api->is_expired(task); step++) {
    CHECK(api->progress(task, (uint64_t)(step < steps ? step + 1 : steps), 0) == TASKHOST_OK);
    int64_t left = api->remaining_ms(task);
    if (left > probe->values[2]) probe->values[2] = left;
    api->sleep(task, 20);
  }
  probe->values[0] = api->stop_reason(task);
  probe->values[1] = (now_ns() - begin) / 1000000;
  return TASKHOST_RETRY;
}

RUNTIME_PLUGIN("progress", handle)
