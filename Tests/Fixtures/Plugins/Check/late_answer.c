/* Saves much when it is asked to stop, one call after the other, as if each were answered at once. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  // So long that it is what the case expires it in.
  host->sleep(task, 300);
  for (int count = 0; count < 20; count++) {
#ifdef WELL_BEHAVED
    if (count > 0 && host->is_expired(task)) return TASKHOST_RETRY;
#endif
    if (host->checkpoint_set(task, &count, sizeof count) != TASKHOST_OK) return TASKHOST_RETRY;
  }
  return TASKHOST_SUCCESS;
}
