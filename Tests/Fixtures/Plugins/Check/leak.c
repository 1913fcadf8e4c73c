/* Keeps something of every run: WHAT is 1 memory, 2 a descriptor. */
#include "check_fixture.h"

#include <fcntl.h>

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#if WHAT == 1
  char *volatile kept = malloc(4096);
  if (kept == NULL) return TASKHOST_RETRY;
  kept[0] = 1;
#ifdef WELL_BEHAVED
  free(kept);
#endif
#else
  int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (kept < 0) return TASKHOST_RETRY;
#ifdef WELL_BEHAVED
  close(kept);
#endif
#endif
  return TASKHOST_SUCCESS;
}
