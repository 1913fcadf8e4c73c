/*
 * Ignores its expiration until the test releases it, then looks whether its memory is still there. Faults: 51, 52, 56, 58.
 *
 * values: 0 the payload's last byte, 1 what fstat says of the descriptor, 2 what poll says of it, 3 progress, 4 is_expired,
 * 5 expiration_fd, 6 attempt, 7 remaining_ms == INT64_MIN, 8 its handle; text: last_error and the texts of before
 */
#include "runtime_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  const char *bytes;
  size_t length;
  api->payload(task, (const void **)&bytes, &length);
  const char *identifier = api->identifier(task), *request = api->request_id(task);
  probe->values[8] = (int64_t)task;
  int descriptor = api->expiration_fd(task);
  sem_post(&probe->reached);
  await(&probe->release);
  struct stat status;
  struct pollfd polled = {.fd = descriptor, .events = POLLIN};
  probe->values[0] = bytes[length - 1];
  probe->values[1] = fstat(descriptor, &status);
  probe->values[2] = poll(&polled, 1, 0);
  probe->values[3] = api->progress(task, 1, 2);
  snprintf(probe->text, sizeof probe->text, "%s|%s|%zu|%s", api->last_error(), identifier, strlen(request), api->identifier(task));
  probe->values[4] = api->is_expired(task);
  probe->values[5] = api->expiration_fd(task);
  probe->values[6] = api->attempt(task);
  probe->values[7] = api->remaining_ms(task) == INT64_MIN;
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("ignore", handle)
