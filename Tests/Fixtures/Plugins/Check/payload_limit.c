/* Copies the payload into a buffer that is smaller than the largest payload. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes = NULL;
  size_t length = 0;
  if (host->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_RETRY;
  char buffer[8192];
#ifdef WELL_BEHAVED
  if (length > sizeof buffer) return TASKHOST_FAILURE;
#endif
  char *volatile place = buffer;
  memcpy(place, bytes, length);
  return place[0] == 0 ? TASKHOST_NOOP : TASKHOST_SUCCESS;
}
