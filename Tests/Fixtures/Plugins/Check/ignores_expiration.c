/* Goes on for a minute although it is asked to stop. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
#ifdef WELL_BEHAVED
  return host->sleep(task, 60000) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_RETRY;
#else
  (void)task;
  sleep(60);
  return TASKHOST_SUCCESS;
#endif
}
