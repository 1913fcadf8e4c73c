/*
 * Clears its expiration handler while that is being called: from inside at once, from the run only when it has returned, also when the
 * run was forced meanwhile. values: 0 clearing from inside, 1 clearing from the run, 2 whether the call had returned by then. Faults: 53.
 */
#include "runtime_fixture.h"

typedef struct {
  runtime_probe *probe;
  sem_t called;
  atomic_int has_returned;
} clearing;

static void on_expiry(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)reason;
  clearing *self = context;
  self->probe->values[0] = api->set_expiration_handler(task, NULL, NULL);
  sem_post(&self->called);
  await(&self->probe->release);
  atomic_store(&self->has_returned, 1);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  clearing self = {.probe = probe_of(task)};
  if (!self.probe) return TASKHOST_FAILURE;
  sem_init(&self.called, 0, 0);
  CHECK(api->set_expiration_handler(task, on_expiry, &self) == TASKHOST_OK);
  sem_post(&self.probe->reached);
  await(&self.called);
  sem_post(&self.probe->reached);
  self.probe->values[1] = api->set_expiration_handler(task, NULL, NULL);
  self.probe->values[2] = atomic_load(&self.has_returned);
  sem_post(&self.probe->reached);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("clear", handle)
