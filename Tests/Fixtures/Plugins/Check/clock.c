/* Waits for the wall clock to move on, which it need not. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  int64_t begin = host->now_unix_ms(task);
#ifdef WELL_BEHAVED
  return host->sleep(task, 5) == TASKHOST_OK && begin != 0 ? TASKHOST_SUCCESS : TASKHOST_RETRY;
#else
  while (host->now_unix_ms(task) < begin + 5) usleep(500);
  return TASKHOST_SUCCESS;
#endif
}
