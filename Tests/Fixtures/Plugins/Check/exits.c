/* Ends the process when its payload is empty. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes = NULL;
  size_t length = 0;
  if (host->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_RETRY;
#ifndef WELL_BEHAVED
  if (length == 0) exit(3);
#endif
  return length == 0 ? TASKHOST_FAILURE : TASKHOST_SUCCESS;
}
