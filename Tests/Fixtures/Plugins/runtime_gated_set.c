/* Sets its expiration handler when the test releases it. values: 0 what setting said, 1 how often it was called. Faults: 54. */
#include "runtime_fixture.h"

static void on_expiry(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  (void)reason;
  ((runtime_probe *)context)->values[1] += 1;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  sem_post(&probe->reached);
  await(&probe->release);
  probe->values[0] = api->set_expiration_handler(task, on_expiry, probe);
  sem_post(&probe->reached);
  await(&probe->release);
  CHECK(api->set_expiration_handler(task, NULL, NULL) == (probe->values[1] ? TASKHOST_EEXPIRED : TASKHOST_OK));
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("gated", handle)
