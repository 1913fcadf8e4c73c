/*
 * Sets its expiration handler about when it expires, with a context on its stack, and checks that it is either told or called. Faults: 54.
 *
 * The payload's 8 bytes are how many nanoseconds it waits before it sets the handler.
 */
#include "runtime_fixture.h"

static void on_expiry(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  (void)reason;
  atomic_fetch_add((atomic_int *)context, 1);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  atomic_int calls = 0;
  const void *bytes;
  size_t length;
  int64_t delay = 0;
  int64_t begin = now_ns();
  CHECK(api->payload(task, &bytes, &length) == TASKHOST_OK && length == sizeof delay);
  memcpy(&delay, bytes, sizeof delay);
  while (now_ns() - begin < delay) {}
  taskhost_status set = api->set_expiration_handler(task, on_expiry, &calls);
  if (set == TASKHOST_EEXPIRED) {
    CHECK(api->is_expired(task) == 1);
    CHECK(api->set_expiration_handler(task, NULL, NULL) == TASKHOST_OK);
    CHECK(atomic_load(&calls) == 0);
    return TASKHOST_NOOP;
  }
  CHECK(set == TASKHOST_OK);
  /* Every other run waits for the expiration, the rest clears at once. */
  if (delay % 2) CHECK(api->sleep(task, 60000) == TASKHOST_EEXPIRED);
  taskhost_status cleared = api->set_expiration_handler(task, NULL, NULL);
  int called = atomic_load(&calls);
  CHECK(cleared == (called ? TASKHOST_EEXPIRED : TASKHOST_OK));
  CHECK(called <= 1);
  CHECK(!(delay % 2) || called == 1);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("race", handle)
