/* WHAT is 1 a fork without exec, 2 a standard descriptor closed, 3 credentials of one thread, 4 a thread that works on for a while. */
#include "check_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static inline void *work(void *argument) {
  for (int i = 0; i < 8; i++) usleep(50000);
  return argument;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#if WHAT == 1
  pid_t child = fork();
#ifdef WELL_BEHAVED
  if (child == 0) execl("/bin/true", "true", NULL);
#endif
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
#elif WHAT == 4
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return TASKHOST_RETRY;
#ifdef WELL_BEHAVED
  pthread_join(thread, NULL);
#else
  pthread_detach(thread);
#endif
#elif !defined(WELL_BEHAVED)
#if WHAT == 2
  close(1);
#else
  syscall(SYS_setresuid, -1, geteuid() + 1, -1);
#endif
#endif
  return TASKHOST_SUCCESS;
}
