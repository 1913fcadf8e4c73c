/*
 * What the runtime_*.c plugins share: how they find the test that runs them, and how they register.
 *
 * A run's payload begins with the address of a runtime_probe in the memory of the test, which is in the same process.
 */
#ifndef RUNTIME_FIXTURE_H
#define RUNTIME_FIXTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static inline runtime_probe *probe_of(taskhost_task task) {
  const void *bytes = NULL;
  size_t length = 0;
  runtime_probe *probe = NULL;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK || length < sizeof probe) return NULL;
  memcpy(&probe, bytes, sizeof probe);
  return probe;
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
