/* Leaves a thread behind that goes on with the run's handle. */
#include "check_fixture.h"

#include <pthread.h>

static void *chatter(void *argument) {
  taskhost_task task = (taskhost_task)(uintptr_t)argument;
  for (int count = 0; count < 50; count++) {
    host->progress(task, (uint64_t)count, 50);
    usleep(1000);
  }
  return NULL;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  pthread_t thread;
  if (pthread_create(&thread, NULL, chatter, (void *)(uintptr_t)task) != 0) return TASKHOST_RETRY;
#ifdef WELL_BEHAVED
  pthread_join(thread, NULL);
#else
  pthread_detach(thread);
#endif
  return TASKHOST_SUCCESS;
}
