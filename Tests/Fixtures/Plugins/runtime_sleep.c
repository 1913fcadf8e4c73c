/* Sleeps for ever with the host's sleep; values: 0 a short sleep, 1 the long one, 2 one after expiry. Faults: 77. */
#include "runtime_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  probe->values[0] = api->sleep(task, 1);
  probe->values[1] = api->sleep(task, UINT64_MAX);
  probe->values[2] = api->sleep(task, 0);
  return TASKHOST_RETRY;
}

RUNTIME_PLUGIN("sleep", handle)
