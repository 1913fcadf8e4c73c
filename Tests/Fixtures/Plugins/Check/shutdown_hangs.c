/* Its shutdown hook does not return. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
#ifndef WELL_BEHAVED
  sleep(60);
#endif
}
