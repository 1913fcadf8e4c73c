/* Gives the host a level that there is none of. A warning, not a failure. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
#ifdef WELL_BEHAVED
  host->log(task, TASKHOST_ERROR, "hello");
#else
  host->log(task, 99, "hello");
#endif
  return TASKHOST_SUCCESS;
}
