/* Takes every payload for an object with a brace at its end, and reads through NULL where there is none. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes = NULL;
  size_t length = 0;
  if (host->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_RETRY;
  const char *brace = strchr(bytes, '}');
#ifdef WELL_BEHAVED
  if (brace == NULL) return TASKHOST_FAILURE;
#endif
  return *(volatile const char *)brace == '}' ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
}
