/* Polls its expiration descriptor. values: 0 readable before, 1 after the expiration, 2 whether a second look gives the same descriptor. */
#include "runtime_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  struct pollfd polled = {.fd = api->expiration_fd(task), .events = POLLIN};
  probe->values[0] = poll(&polled, 1, 0);
  while (poll(&polled, 1, -1) < 0 && errno == EINTR) {}
  probe->values[1] = polled.revents & POLLIN;
  probe->values[2] = api->expiration_fd(task) == polled.fd;
  return TASKHOST_RETRY;
}

RUNTIME_PLUGIN("poll", handle)
