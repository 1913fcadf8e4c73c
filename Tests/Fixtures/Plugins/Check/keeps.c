/*
 * Each run keeps something: WHAT is 1 a mapping, 2 a thread that is neither joined nor detached, 3 a child, 4 memory when it expires,
 * 5 a hundred bytes. The well-behaved one keeps a thousand values and gives back the oldest.
 */
#include "check_fixture.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>

extern char **environ;

static inline void *nothing(void *argument) { return argument; }

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#ifdef WELL_BEHAVED
  static char *values[1000];
  static unsigned count;
  char **value = &values[count++ % 1000];
  free(*value);
  *value = malloc(2000);
#elif WHAT == 1
  char *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED) memset(pages, 1, 65536);
#elif WHAT == 2
  pthread_t thread;
  (void)pthread_create(&thread, NULL, nothing, NULL);
#elif WHAT == 3
  char *arguments[] = {"true", NULL};
  pid_t child;
  (void)posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ);
#elif WHAT == 4
  volatile char *value = malloc(4096);
  if (value == NULL) return TASKHOST_RETRY;
  *value = 1;
  if (host->sleep(task, 4) == TASKHOST_OK) free((void *)value);
#else
  static void **chain;
  void **value = malloc(100);
  if (value != NULL) *value = chain;
  chain = value;
#endif
  return TASKHOST_SUCCESS;
}
