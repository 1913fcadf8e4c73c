#define _GNU_SOURCE
#include "taskhost_watches.h"

#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>

int taskhost_watches_clock_create(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int taskhost_watches_clock_arm(int timer) {
  /* The kernel clamps times beyond its clock. */
  time_t end = (time_t)(((uint64_t)1 << (sizeof(time_t) * 8 - 1)) - 1);
  struct itimerspec never = {.it_value = {.tv_sec = end}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int taskhost_watches_wake_create(void) { return timerfd_create(CLOCK_BOOTTIME_ALARM, TFD_CLOEXEC | TFD_NONBLOCK); }

int taskhost_watches_wake_arm(int timer, int64_t nanoseconds) {
  struct itimerspec at = {.it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

int64_t taskhost_watches_wake_left(int timer) {
  struct itimerspec left;
  if (timerfd_gettime(timer, &left) != 0) return -1;
  return (int64_t)left.it_value.tv_sec * 1000000000 + left.it_value.tv_nsec;
}

int taskhost_watches_clock_kept(void) {
  struct timex clock = {.modes = 0};
  int state = adjtimex(&clock);
  return state < 0 ? -1 : state != TIME_ERROR;
}

int taskhost_watches_files_create(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }
