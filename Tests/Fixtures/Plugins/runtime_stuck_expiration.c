/* Its expiration handler does not return before the test releases it; its handler returns as soon as it has expired. Faults: 53. */
#include "runtime_fixture.h"

static void on_expiry(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  (void)reason;
  runtime_probe *probe = context;
  sem_post(&probe->reached);
  await(&probe->release);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  CHECK(api->set_expiration_handler(task, on_expiry, probe) == TASKHOST_OK);
  struct pollfd polled = {.fd = api->expiration_fd(task), .events = POLLIN};
  while (poll(&polled, 1, -1) < 0 && errno == EINTR) {}
  return TASKHOST_RETRY;
}

RUNTIME_PLUGIN("stuck", handle)
