/* Allows eight runs at once, which use one place without telling each other. */
#define MAX_RUNS 8
#include "check_fixture.h"

#ifdef WELL_BEHAVED
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static taskhost_task volatile current;

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
#ifdef WELL_BEHAVED
  pthread_mutex_lock(&lock);
#endif
  current = task;
  usleep(2000);
  if (current != task) abort();
#ifdef WELL_BEHAVED
  pthread_mutex_unlock(&lock);
#endif
  return TASKHOST_SUCCESS;
}
