#define _GNU_SOURCE
#include "CExec.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the child tells its parent, whose memory it shares until it execs or exits. */
struct report {
  volatile int32_t step;
  volatile int32_t code;
};

/* setuid(2) and its like of the C library change all threads, and the child has no others: the system calls change it alone. */
static int change_user(const taskhost_exec_order *order) {
  if (syscall(SYS_setgroups, (size_t)order->group_count, order->groups) != 0) return -1;
  if (syscall(SYS_setresgid, order->group, order->group, order->group) != 0) return -1;
  return (int)syscall(SYS_setresuid, order->user, order->user, order->user);
}

static int limit(int resource, uint64_t value) {
  struct rlimit current;
  if (getrlimit(resource, &current) != 0) return -1;
  if (current.rlim_max != RLIM_INFINITY && value > current.rlim_max) value = current.rlim_max;
  struct rlimit wanted = {value, value};
  return setrlimit(resource, &wanted);
}

/* The host may have raised its own soft limit, with which programs that use select(2) do not work. */
static int limit_descriptors(uint64_t value) {
  if (value != 0) return limit(RLIMIT_NOFILE, value);
  struct rlimit current;
  if (getrlimit(RLIMIT_NOFILE, &current) != 0) return -1;
  if (current.rlim_cur > 1024) current.rlim_cur = 1024;
  return setrlimit(RLIMIT_NOFILE, &current);
}

/* What the child runs in its parent's memory, on a stack of its own: only system calls. */
struct start {
  const taskhost_exec_order *order;
  pid_t parent;
  struct report report;
};

static void become(const taskhost_exec_order *order, pid_t parent, struct report *report) {
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, NULL);
  }
  report->step = TASKHOST_EXEC_SETUP;
  if (order->is_sandboxed == 0 && setsid() < 0) return;
  if (dup2(order->input, 0) < 0 || dup2(order->output, 1) < 0 || dup2(order->error, 2) < 0) return;
  if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) return;
  uint32_t process = (uint32_t)syscall(SYS_getpid);
  for (int place = 9; place >= 0; place--, process /= 10) order->session[place] = (char)('0' + process % 10);
  report->step = TASKHOST_EXEC_LIMIT;
  if (limit_descriptors(order->descriptors) != 0) return;
  report->step = TASKHOST_EXEC_USER;
  if (order->changes_user != 0 && change_user(order) != 0) return;
  report->step = TASKHOST_EXEC_SETUP;
  /* After the change of user, which clears it. In a sandbox, the host ends the worker's whole group instead. */
  if (order->is_sandboxed == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (getppid() != parent) _exit(127);
  report->step = TASKHOST_EXEC_DIRECTORY;
  if (chdir(order->directory) != 0 && (order->fallback == NULL || chdir(order->fallback) != 0)) return;
  /* Last, because it also applies to what follows. */
  report->step = TASKHOST_EXEC_LIMIT;
  if (order->memory != 0 && limit(RLIMIT_AS, order->memory) != 0) return;
  report->step = TASKHOST_EXEC_PROGRAM;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(order->path, order->arguments, order->environment);
}

static int child(void *argument) {
  struct start *start = argument;
  become(start->order, start->parent, &start->report);
  start->report.code = errno;
  _exit(127);
}

int32_t taskhost_exec_start(const taskhost_exec_order *order, int32_t *descriptor, int32_t *step) {
  const size_t size = 64 << 10;
  struct start start = {order, getpid(), {TASKHOST_EXEC_FORK, 0}};
  *step = TASKHOST_EXEC_FORK;
  char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -errno;
  sigset_t all, before;
  int cancellation, pidfd = -1;
  sigfillset(&all);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  /* As posix_spawn does it. The descriptor comes with the process, because the worker's sandbox refuses pidfd_open. */
  pid_t process = clone(child, stack + size, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, &pidfd);
  int failure = errno;
  if (process > 0 && start.report.code != 0) {
    failure = start.report.code;
    taskhost_exec_reap(process);
    close(pidfd);
    process = -1;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_setcancelstate(cancellation, NULL);
  munmap(stack, size);
  if (process > 0) {
    *descriptor = pidfd;
    return process;
  }
  *step = start.report.step;
  return -failure;
}

int32_t taskhost_exec_ended(int32_t process, int32_t *code) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) return -errno;
  }
  if (info.si_pid == 0) return 0;
  *code = info.si_status;
  return info.si_code == CLD_EXITED ? 1 : 2;
}

void taskhost_exec_reap(int32_t process) {
  while (waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
}

int32_t taskhost_exec_content(const void *bytes, size_t length) {
  int descriptor = memfd_create("payload", MFD_CLOEXEC);
  if (descriptor < 0) return -errno;
  size_t written = 0;
  while (written < length) {
    ssize_t count = write(descriptor, (const char *)bytes + written, length - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      int failure = count < 0 ? errno : EIO;
      close(descriptor);
      return -failure;
    }
    written += (size_t)count;
  }
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

int32_t taskhost_exec_pipe(int32_t ends[2], int32_t ours) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  int flags = fcntl(ends[ours], F_GETFL);
  if (flags >= 0 && fcntl(ends[ours], F_SETFL, flags | O_NONBLOCK) == 0) return 0;
  int failure = errno;
  close(ends[0]);
  close(ends[1]);
  return -failure;
}

int64_t taskhost_exec_write(int32_t descriptor, const void *bytes, size_t length) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  int was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  ssize_t count;
  do count = write(descriptor, bytes, length);
  while (count < 0 && errno == EINTR);
  int failure = errno;
  if (count < 0 && failure == EPIPE && was_pending == 0) {
    struct timespec none = {0, 0};
    while (sigtimedwait(&broken, NULL, &none) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return count < 0 ? -failure : count;
}

int32_t taskhost_exec_account_of(const char *name, uint32_t user, taskhost_exec_account *account, char *buffer, size_t capacity) {
  struct passwd entry, *found = NULL;
  int code = name != NULL ? getpwnam_r(name, &entry, buffer, capacity, &found) : getpwuid_r(user, &entry, buffer, capacity, &found);
  if (found == NULL) {
    /* The C library reports a missing user by 0 or by one of these. */
    return code == 0 || code == ENOENT || code == ESRCH || code == EBADF || code == EPERM ? 1 : -code;
  }
  *account = (taskhost_exec_account){found->pw_uid, found->pw_gid, found->pw_name, found->pw_dir};
  return 0;
}

int64_t taskhost_exec_groups_of(const char *name, uint32_t group, uint32_t *groups, uint64_t capacity) {
  int count = capacity > 65536 ? 65536 : (int)capacity;
  if (getgrouplist(name, group, groups, &count) < 0) return count > 0 ? -ERANGE : -errno;
  return count;
}
