/* Changes what is the whole process's while it runs, and puts it back: WHAT is 1 working directory, 2 umask, 3 a disposition. */
#include "check_fixture.h"

#include <signal.h>
#include <sys/stat.h>

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
#ifdef WELL_BEHAVED
  host->sleep(task, 1);
#elif WHAT == 1
  char *before = getcwd(NULL, 0);
  if (before == NULL || chdir("/") != 0) return TASKHOST_FAILURE;
  host->sleep(task, 1);
  int status = chdir(before);
  free(before);
  if (status != 0) return TASKHOST_FAILURE;
#elif WHAT == 2
  mode_t before = umask(0);
  host->sleep(task, 1);
  umask(before);
#else
  void (*before)(int) = signal(SIGCHLD, SIG_IGN);
  host->sleep(task, 1);
  signal(SIGCHLD, before);
#endif
  return TASKHOST_SUCCESS;
}
