/* Ends its thread instead of returning. */
#include "check_fixture.h"

#include <pthread.h>

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#ifndef WELL_BEHAVED
  pthread_exit(NULL);
#endif
  return TASKHOST_SUCCESS;
}
