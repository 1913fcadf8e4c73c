/* Keeps the rules in ways that look like breaking them: threads that wait between runs and end in the shutdown. */
#define MAX_RUNS 4
#include "check_fixture.h"

#include <pthread.h>

struct job {
  struct job *next;
  taskhost_task task;
  bool is_done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static struct job *queue;
static bool is_over;
static pthread_t threads[3];
static int thread_count;

static void *serve(void *argument) {
  pthread_mutex_lock(&lock);
  while (true) {
    while (queue == NULL && !is_over) pthread_cond_wait(&work, &lock);
    if (queue == NULL) break;
    struct job *job = queue;
    queue = job->next;
    pthread_mutex_unlock(&lock);
    host->sleep(job->task, 2);
    pthread_mutex_lock(&lock);
    job->is_done = true;
    pthread_cond_broadcast(&done);
  }
  pthread_mutex_unlock(&lock);
  return argument;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  struct job job = {NULL, task, false};
  pthread_mutex_lock(&lock);
  while (thread_count < 3 && pthread_create(&threads[thread_count], NULL, serve, NULL) == 0) thread_count++;
  job.next = queue;
  queue = &job;
  pthread_cond_signal(&work);
  while (!job.is_done) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
  pthread_mutex_lock(&lock);
  is_over = true;
  pthread_cond_broadcast(&work);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
}
