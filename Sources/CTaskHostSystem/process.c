#define _GNU_SOURCE
#include "taskhost_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int taskhost_process_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

int taskhost_process_close_on_exec(int first) {
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 1u << 2 /* CLOSE_RANGE_CLOEXEC */) == 0) return 0;
  /* Before Linux 5.11. */
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  for (rlim_t descriptor = (rlim_t)first; descriptor < limit.rlim_cur && descriptor < 1u << 20; descriptor++)
    if (fcntl((int)descriptor, F_SETFD, FD_CLOEXEC) != 0 && errno != EBADF) return -1;
  return 0;
}

int taskhost_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }


/* Runs in the guard: waits for the end of its parent, with all other descriptors closed and all signals blocked. (PR_SET_PDEATHSIG does not
 * work here: its signal counts as sent by the parent, and the sandbox lets the parent send none.) */
static void guard_group(pid_t parent) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_NAME, "worker-guard", 0, 0, 0);
  int descriptor = taskhost_process_descriptor(parent);
  if (descriptor >= 0 && dup2(descriptor, 0) == 0) {
    syscall(SYS_close_range, 1u, ~0u, 0u);
    struct pollfd end = {.fd = 0, .events = POLLIN};
    while (getppid() == parent && poll(&end, 1, -1) < 0 && errno == EINTR) {}
  }
  kill(0, SIGKILL);
}

int taskhost_process_guard_group(void) {
  pid_t parent = getpid();
  pid_t guard = fork();
  if (guard < 0) return -1;
  if (guard > 0) return 0;
  guard_group(parent);
  syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

static uint64_t nanoseconds(struct timeval time) { return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u; }

int taskhost_process_end_group(pid_t leader, taskhost_process_end *end) {
  siginfo_t information;
  memset(&information, 0, sizeof information);
  if (waitid(P_PID, (id_t)leader, &information, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != ECHILD) return -1;
    /* Other code in this process reaps children, or SIGCHLD is ignored. The number may belong to another process now. */
    memset(end, 0, sizeof *end);
    end->status = TASKHOST_PROCESS_TAKEN;
    return 0;
  }
  if (information.si_pid == 0) return 1;
  /* The leader's number is also its group's: until the leader is reaped, no other process can get it. */
  kill(-leader, SIGKILL);
  int status = 0;
  struct rusage usage;
  if (wait4(leader, &status, 0, &usage) != leader) return -1;
  end->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  end->reserved = 0;
  end->cpu_nanoseconds = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  end->peak_resident_bytes = (uint64_t)usage.ru_maxrss * 1024u;
  return 0;
}

/* "/proc/PID/status", using only code that is safe in a signal handler. */
static void status_path(pid_t process, char *path) {
  strcpy(path, "/proc/self/status");
  if (process == 0) return;
  char digits[12];
  size_t count = 0;
  for (unsigned left = (unsigned)process; left; left /= 10) digits[count++] = (char)('0' + left % 10);
  char *end = path + strlen("/proc/");
  while (count) *end++ = digits[--count];
  strcpy(end, "/status");
}

uint64_t taskhost_process_peak_resident(pid_t process) {
  char path[40], text[2048];
  status_path(process, path);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (length <= 0) return 0;
  text[length] = 0;
  const char *field = strstr(text, "VmHWM:");
  if (!field) return 0;
  uint64_t kibibytes = 0;
  for (field += strlen("VmHWM:"); *field == ' ' || *field == '\t'; field++) {}
  for (; *field >= '0' && *field <= '9'; field++) kibibytes = kibibytes * 10 + (uint64_t)(*field - '0');
  return kibibytes * 1024;
}

int taskhost_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int taskhost_poll_set(int poll, int descriptor, int is_new, int writable, uint64_t token) {
  struct epoll_event event = {.events = EPOLLIN | (writable ? EPOLLOUT : 0), .data.u64 = token};
  return epoll_ctl(poll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

int taskhost_poll_remove(int poll, int descriptor) { return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, NULL); }

int taskhost_poll_wait(int poll, taskhost_poll_event *events, int capacity, int64_t wait) {
  struct epoll_event ready[64];
  struct timespec time = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
  int count = epoll_pwait2(poll, ready, capacity < 64 ? capacity : 64, wait < 0 ? NULL : &time, NULL);
  for (int index = 0; index < count; index++) {
    uint32_t seen = ready[index].events;
    events[index].token = ready[index].data.u64;
    events[index].ready = ((seen & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) ? 1u : 0u) | ((seen & EPOLLOUT) ? 2u : 0u);
    events[index].reserved = 0;
  }
  return count;
}

int taskhost_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

int taskhost_system_seal_size(int descriptor) { return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL); }

int taskhost_process_begin_in(posix_spawn_file_actions_t *actions, const char *directory) {
  return posix_spawn_file_actions_addchdir_np(actions, directory);
}

int taskhost_process_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
