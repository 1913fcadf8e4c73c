/* Prints. A warning, not a failure. */
#include "check_fixture.h"

#include <stdio.h>

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
#ifdef WELL_BEHAVED
  host->log(task, TASKHOST_INFO, "hello");
#else
  (void)task;
  puts("hello");
  fflush(stdout);
#endif
  return TASKHOST_SUCCESS;
}
