/*
 * Not a plugin: preloaded into the host beside clock_shift.c, it tells the host that its calendar was set, as the kernel does after
 * clock_settime. The first timer of CLOCK_REALTIME that is armed with TFD_TIMER_CANCEL_ON_SET becomes the FIFO that TASKHOST_TEST_CLOCK_SET
 * names: a byte that the test writes there makes it readable, and reading it fails with ECANCELED, once for each time it was armed. What
 * waits for it is the real code; other timers and files are left alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* The timer that is the FIFO; -1: there is none. */
static atomic_int timer = -1;
static atomic_bool armed;

/* Whether it is a timer of CLOCK_REALTIME: others are not told when the calendar is set. */
static int is_calendar(int file) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
  int information = open(path, O_RDONLY | O_CLOEXEC);
  if (information < 0) return 0;
  ssize_t length = syscall(SYS_read, information, text, sizeof text - 1);
  syscall(SYS_close, information);
  text[length > 0 ? length : 0] = 0;
  return strstr(text, "clockid: 0\n") != NULL;
}

int timerfd_settime(int file, int flags, const struct itimerspec *next, struct itimerspec *last) {
  const char *path = getenv("TASKHOST_TEST_CLOCK_SET");
  int wanted = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  if (path && timer < 0 && (flags & wanted) == wanted && is_calendar(file)) {
    /* For writing too, so that it never ends. */
    int fifo = open(path, O_RDWR | O_CLOEXEC | (fcntl(file, F_GETFL) & O_NONBLOCK));
    if (fifo < 0 || dup3(fifo, file, O_CLOEXEC) < 0) return -1;
    syscall(SYS_close, fifo);
    timer = file;
  }
  if (file < 0 || file != timer) return (int)syscall(SYS_timerfd_settime, file, flags, next, last);
  armed = (flags & wanted) == wanted && next->it_value.tv_sec > 0;
  return 0;
}

ssize_t read(int file, void *bytes, size_t count) {
  if (file < 0 || file != timer) return syscall(SYS_read, file, bytes, count);
  char set[64];
  if (syscall(SYS_read, file, set, sizeof set) < 0) return -1;
  errno = atomic_exchange(&armed, 0) ? ECANCELED : EAGAIN;
  return -1;
}

int close(int file) {
  int expected = file;
  if (file >= 0) atomic_compare_exchange_strong(&timer, &expected, -1);
  return (int)syscall(SYS_close, file);
}
