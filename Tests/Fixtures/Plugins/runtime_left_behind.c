/*
 * Leaves a thread behind that sleeps with the host's sleep; it must wake when the run is over. Faults: 56.
 * values: 0 what sleep said, 1 what a second call said
 */
#include "runtime_fixture.h"

typedef struct {
  taskhost_task task;
  runtime_probe *probe;
} left;

static void *linger(void *argument) {
  left *self = argument;
  sem_post(&self->probe->reached);
  self->probe->values[0] = api->sleep(self->task, 3600000);
  self->probe->values[1] = api->progress(self->task, 1, 1);
  sem_post(&self->probe->reached);
  free(self);
  return NULL;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  left *self = malloc(sizeof *self);
  pthread_t thread;
  *self = (left){.task = task, .probe = probe_of(task)};
  if (!self->probe || pthread_create(&thread, NULL, linger, self)) return TASKHOST_FAILURE;
  pthread_detach(thread);
  /* Long enough for it to fall asleep, mostly; where it does not, its call comes late and gives the same. */
  await(&self->probe->release);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("left", handle)
