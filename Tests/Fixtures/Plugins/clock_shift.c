/*
 * Not a plugin: preloaded into the host, it moves the calendar by what the file TASKHOST_TEST_CLOCK says, a 64-bit number of
 * nanoseconds that the test changes while the host runs. The monotonic clocks are left alone, as clock_settime leaves them. (81)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;

static void __attribute__((constructor)) map(void) {
  const char *path = getenv("TASKHOST_TEST_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) shift = memory;
}

int clock_gettime(clockid_t clock, struct timespec *result) {
  int status = (int)syscall(SYS_clock_gettime, clock, result);
  if (status != 0 || !shift || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return status;
  int64_t nanoseconds = (int64_t)result->tv_nsec + *shift % 1000000000;
  result->tv_sec += *shift / 1000000000 + (nanoseconds < 0 ? -1 : nanoseconds >= 1000000000);
  result->tv_nsec = (nanoseconds + 1000000000) % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
