/* Returns a value that is no taskhost_result. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#ifdef WELL_BEHAVED
  return TASKHOST_SUCCESS;
#else
  return 17;
#endif
}
