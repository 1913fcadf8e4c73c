#define _GNU_SOURCE
#include "taskhost_system.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

int taskhost_system_set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0); }

int taskhost_system_event_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int taskhost_system_event_set(int descriptor) {
  uint64_t one = 1;
  return write(descriptor, &one, sizeof one) == sizeof one ? 0 : -1;
}

int taskhost_system_set_thread_name(const char *name) {
  char cut[16];
  strncpy(cut, name, sizeof cut - 1);
  cut[sizeof cut - 1] = 0;
  return prctl(PR_SET_NAME, cut, 0, 0, 0);
}

const char *taskhost_system_object_of(const void *address) {
  Dl_info information;
  return dladdr(address, &information) ? information.dli_fname : NULL;
}
