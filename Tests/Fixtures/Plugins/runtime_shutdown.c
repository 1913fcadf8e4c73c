/* Has a shutdown hook: counts its calls, and with -DHANGS never returns. Its run ends when the test releases it. Faults: 75. */
#include "runtime_fixture.h"

TASKHOST_EXPORT int64_t runtime_shutdowns;

TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
  runtime_shutdowns += 1;
#ifdef HANGS
  for (;;) pause();
#endif
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  sem_post(&probe->reached);
  await(&probe->release);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("shutdown", handle)
