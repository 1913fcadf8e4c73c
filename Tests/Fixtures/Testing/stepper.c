/*
 * A plugin that works in steps, for the tests of the test kit: its payload is a C string, "STEPS MS", and each step writes a checkpoint, reports
 * progress and sleeps that many milliseconds. It stops early, with SNOOZE, when it has expired.
 *
 * -DIGNORES: it does not look at its expiration. -DJOINS: the steps are done by a thread that the handler joins. -DPOLLS: it waits for its
 * expiration descriptor instead. -DHANGS: its expiration handler never returns, and is not waited for.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "taskhost.h"

static const taskhost_api *api;
/* Where runs of this image count: another image counts for itself. */
static int runs;

typedef struct {
  taskhost_task task;
  taskhost_result result;
  int reason;
} work;

static void expired(taskhost_task task, taskhost_stop_reason reason, void *context) {
#ifdef HANGS
  (void)task, (void)reason, (void)context;
  for (;;) pause();
#else
  char text[64];
  ((work *)context)->reason = reason;
  snprintf(text, sizeof text, "told to stop: %d, %d ms left", reason, (int)api->grace_ms(task));
  api->log(task, TASKHOST_NOTICE, text);
#endif
}

static void *steps(void *context) {
  work *self = context;
  const void *payload;
  size_t length;
  unsigned long long count = 0, ms = 0;
  int done = 0;
  api->payload(self->task, &payload, &length);
  sscanf(payload, "%llu %llu", &count, &ms);
  api->checkpoint_get(self->task, &done, sizeof done, &length);
  for (; (unsigned long long)done < count; ) {
    done++;
    if (api->checkpoint_set(self->task, &done, sizeof done) != TASKHOST_OK) {
      api->log(self->task, TASKHOST_ERROR, api->last_error());
      self->result = TASKHOST_RETRY;
      return NULL;
    }
    api->progress(self->task, (uint64_t)done, count);
#ifdef IGNORES
    api->sleep(self->task, ms);
#else
    if (api->sleep(self->task, ms) == TASKHOST_EEXPIRED) {
      self->result = TASKHOST_SNOOZE;
      return NULL;
    }
#endif
  }
#ifdef IGNORES
  while (api->is_expired(self->task) && api->grace_ms(self->task) > 0) api->sleep(self->task, 1000);
#endif
  self->result = TASKHOST_SUCCESS;
  return NULL;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  char text[64];
  work self = {.task = task, .result = TASKHOST_FAILURE};
  runs++;
  snprintf(text, sizeof text, "%d", runs);
  api->set_output(task, text, strlen(text));
  api->set_expiration_handler(task, expired, &self);
#if defined(POLLS)
  struct pollfd polled = {.fd = api->expiration_fd(task), .events = POLLIN};
  poll(&polled, 1, -1);
  self.result = TASKHOST_SNOOZE;
#elif defined(JOINS)
  pthread_t thread;
  pthread_create(&thread, NULL, steps, &self);
  pthread_join(thread, NULL);
#else
  steps(&self);
#endif
#ifdef HANGS
  return self.result;
#endif
  taskhost_status cleared = api->set_expiration_handler(task, NULL, NULL);
  if (cleared != (self.reason ? TASKHOST_EEXPIRED : TASKHOST_OK) && cleared != TASKHOST_ESTALE) return TASKHOST_FAILURE;
  return self.result;
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  taskhost_registration registration = {.struct_size = sizeof registration, .kind = TASKHOST_REFRESH,
    .identifier = "org.example.stepper", .handler = handle, .max_concurrent_runs = 8};
  return api->register_handler(launch, &registration);
}

TASKHOST_EXPORT void taskhost_plugin_shutdown(void) { runs = 0; }
