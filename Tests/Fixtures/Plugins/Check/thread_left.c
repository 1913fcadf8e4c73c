/* Keeps a thread that its first run made after its shutdown has returned; with WORKS that goes on working. */
#include "check_fixture.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool is_over;
static bool is_there;
static pthread_t thread;

static void *serve(void *argument) {
  (void)argument;
  pthread_mutex_lock(&lock);
#ifdef WORKS
  (void)&wake;
  while (!is_over) {
    pthread_mutex_unlock(&lock);
    usleep(10000);
    pthread_mutex_lock(&lock);
  }
#else
  while (!is_over) pthread_cond_wait(&wake, &lock);
#endif
  pthread_mutex_unlock(&lock);
  return NULL;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  pthread_mutex_lock(&lock);
  if (!is_there) is_there = pthread_create(&thread, NULL, serve, NULL) == 0;
  pthread_mutex_unlock(&lock);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
#ifdef WELL_BEHAVED
  pthread_mutex_lock(&lock);
  is_over = true;
  pthread_cond_signal(&wake);
  pthread_mutex_unlock(&lock);
  if (is_there) pthread_join(thread, NULL);
#endif
}
