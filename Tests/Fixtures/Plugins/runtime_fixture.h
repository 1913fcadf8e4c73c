/*
 * What the runtime_*.c plugins share: how they find the test that runs them, and how they register.
 *
 * A run's payload begins with the path of a file that holds a runtime_probe, shared with the test, and a 0 byte: the plugin is in the
 * process of the test, or in a worker.
 */
#ifndef RUNTIME_FIXTURE_H
#define RUNTIME_FIXTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "taskhost.h"

#ifndef KIND
#define KIND TASKHOST_REFRESH
#endif
#ifndef MAX_RUNS
#define MAX_RUNS 1024
#endif

/* Its layout is repeated in Probe.swift. */
typedef struct {
  sem_t reached;       /* the plugin has come to the point in question */
  sem_t release;       /* the test lets it go on */
  int64_t values[48];  /* what the plugin saw */
  char text[256];
} runtime_probe;

static const taskhost_api *api;

/* The memory is never unmapped: threads that a test leaves behind use it to the end. */
static inline runtime_probe *probe_of(taskhost_task task) {
  const void *path = NULL;
  size_t length = 0;
  if (api->payload(task, &path, &length) != TASKHOST_OK) return NULL;
  int descriptor = open((const char *)path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  void *memory = mmap(NULL, sizeof(runtime_probe), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return memory == MAP_FAILED ? NULL : (runtime_probe *)memory;
}

static inline void await(sem_t *semaphore) {
  while (sem_wait(semaphore) == -1 && errno == EINTR) {}
}

static inline int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Fails the run with the place and what was expected there. */
#define CHECK(condition) \
  do { \
    if (!(condition)) return fail(task, __LINE__, #condition); \
  } while (0)

static inline taskhost_result fail(taskhost_task task, int line, const char *condition) {
  char text[512];
  snprintf(text, sizeof text, "line %d: %s: %s", line, condition, api->last_error());
  api->set_message(task, text);
  return TASKHOST_FAILURE;
}

/* Defines what a well-behaved plugin exports. */
#define RUNTIME_PLUGIN(label, function) \
  TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION; \
  TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) { \
    api = table; \
    taskhost_registration registration = {.struct_size = sizeof registration, .kind = KIND, \
      .identifier = "test.runtime." label, .handler = function, .max_concurrent_runs = MAX_RUNS}; \
    return api->register_handler(launch, &registration); \
  }

#endif
