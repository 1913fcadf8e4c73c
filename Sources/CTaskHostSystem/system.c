#define _GNU_SOURCE
#include "taskhost_system.h"

#include <dlfcn.h>
#include <signal.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int taskhost_system_set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0); }

int taskhost_system_set_time_slice(unsigned long nanoseconds) {
  /* struct sched_attr of linux/sched/types.h, which glibc 2.36 does not declare. */
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t least, most;
  } attributes = {.size = sizeof attributes};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return -1;
  if (attributes.policy != SCHED_OTHER) return 0;
  attributes.runtime = nanoseconds;
  return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

int taskhost_system_open_place(int directory, const char *name) { return openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC); }

int taskhost_system_boot_timer_create(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int taskhost_system_boot_timer_set(int descriptor, long long nanoseconds) {
  struct itimerspec at = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &at, NULL);
}

int taskhost_system_kill_at(long long nanoseconds) {
  static timer_t timer;
  static int is_made = 0;
  if (!is_made) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    if (timer_create(CLOCK_BOOTTIME, &event, &timer) != 0) return -1;
    is_made = 1;
  }
  struct itimerspec at = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  return timer_settime(timer, TIMER_ABSTIME, &at, NULL);
}

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

int taskhost_system_look(const char *path, taskhost_system_file *file) {
  struct statx found;
  const int result = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_INO | STATX_SIZE, &found);
  if (result == 0) {
    *file = (taskhost_system_file){
        .device = makedev(found.stx_dev_major, found.stx_dev_minor), .inode = found.stx_ino, .size = (int64_t)found.stx_size};
  }
  return result;
}

int taskhost_system_stack_signal(void) { return SIGRTMIN + 6; }

const char *taskhost_system_object_of(const void *address) {
  Dl_info information;
  return dladdr(address, &information) ? information.dli_fname : NULL;
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int taskhost_system_memfd(const char *name) {
  /* Kernels before 6.3 do not know NOEXEC_SEAL; later ones can be told to demand it (vm.memfd_noexec). */
  int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  return descriptor < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) : descriptor;
}

int taskhost_system_pair(int descriptors[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, descriptors); }

ssize_t taskhost_system_receive(int socket, void *bytes, size_t capacity, int *descriptor, int flags) {
  struct iovec part = {.iov_base = bytes, .iov_len = capacity};
  /* CMSG_SPACE of one descriptor has room for two by its alignment: what arrives is counted, not assumed. */
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  *descriptor = -1;
  ssize_t received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (received < 0) return received;

  int refused = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < count; index++) {
      int arrived;
      memcpy(&arrived, CMSG_DATA(header) + index * sizeof(int), sizeof arrived);
      if (*descriptor >= 0 || refused) {
        refused = 1;
        close(arrived);
      } else {
        *descriptor = arrived;
      }
    }
  }
  if (refused) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    errno = EBADMSG;
    return -1;
  }
  return received;
}

void taskhost_system_trim_memory(void) { malloc_trim(0); }

void taskhost_system_buffer_output_by_line(void) { setvbuf(stdout, NULL, _IOLBF, BUFSIZ); }

void taskhost_system_flush_output(void) {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}
