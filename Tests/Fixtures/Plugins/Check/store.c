/* Takes for granted that its state can be read, and dies where it cannot. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  char value[64];
  size_t length = 0;
  taskhost_status status = host->state_get(task, "value", value, sizeof value, &length);
#ifdef WELL_BEHAVED
  if (status != TASKHOST_OK && status != TASKHOST_ENOTFOUND) return TASKHOST_RETRY;
#else
  if (status == TASKHOST_EUNAVAILABLE) abort();
#endif
  return host->state_set(task, "value", "1", 1) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_RETRY;
}
