/* Changes what is the whole process's: WHAT is 1 working directory, 2 umask, 3 locale, 4 a signal's disposition,
 * 5 SIGPIPE's. */
#include "check_fixture.h"

#include <locale.h>
#include <signal.h>
#include <sys/stat.h>

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#ifndef WELL_BEHAVED
#if WHAT == 1
  if (chdir("/") != 0) return TASKHOST_FAILURE;
#elif WHAT == 2
  umask(0);
#elif WHAT == 3
  setlocale(LC_ALL, "C.UTF-8");
#elif WHAT == 4
  signal(SIGUSR1, SIG_IGN);
#else
  signal(SIGPIPE, SIG_DFL);
#endif
#endif
  return TASKHOST_SUCCESS;
}
