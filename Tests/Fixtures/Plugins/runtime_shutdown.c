/*
 * Has a shutdown hook: counts its calls, and with -DHANGS never returns. Its run ends when the test releases it; the hook counts in the
 * probe of the last run too (values[0]), and raises its semaphore. Faults: 75.
 */
#include "runtime_fixture.h"

TASKHOST_EXPORT int64_t runtime_shutdowns;
static runtime_probe *last;

TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
  runtime_shutdowns += 1;
  if (last) {
    last->values[0] += 1;
    sem_post(&last->reached);
  }
#ifdef HANGS
  for (;;) pause();
#endif
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  last = probe;
  sem_post(&probe->reached);
  await(&probe->release);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("shutdown", handle)
