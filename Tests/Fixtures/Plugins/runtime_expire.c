/*
 * Stops when its expiration handler tells it to: the well-behaved twin of 51 and 53. The expiration handler calls the host (73).
 *
 * values: 0 the run's thread, 1 the expiration handler's, 2 the reason, 3 what setting said, 4 what clearing said, 5 how often called,
 * 6 is_expired, 7 remaining_ms and 8 grace_ms seen by the expiration handler, 9 remaining_ms before, 10 grace_ms before,
 * 11 when the handler began and 12 when it was told to stop (ns), 13 stop_reason before, 14 what setting after expiry said
 */
#include "runtime_fixture.h"

typedef struct {
  runtime_probe *probe;
  sem_t told;
} expiry;

static void on_expiry(taskhost_task task, taskhost_stop_reason reason, void *context) {
  expiry *self = context;
  self->probe->values[12] = now_ns();
  self->probe->values[1] = gettid();
  self->probe->values[2] = reason;
  self->probe->values[5] += 1;
  self->probe->values[6] = api->is_expired(task);
  self->probe->values[7] = api->remaining_ms(task);
  self->probe->values[8] = api->grace_ms(task);
  self->probe->values[14] = api->set_expiration_handler(task, on_expiry, context);
  sem_post(&self->told);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  expiry self = {.probe = probe};
  sem_init(&self.told, 0, 0);
  probe->values[11] = now_ns();
  probe->values[0] = gettid();
  probe->values[9] = api->remaining_ms(task);
  probe->values[10] = api->grace_ms(task);
  probe->values[13] = api->stop_reason(task);
  probe->values[3] = api->set_expiration_handler(task, on_expiry, &self);
  sem_post(&probe->reached);
  await(&self.told);
  probe->values[4] = api->set_expiration_handler(task, NULL, NULL);
  return TASKHOST_RETRY;
}

RUNTIME_PLUGIN("expire", handle)
