#define _GNU_SOURCE
#include "CCleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static int flags_for(int32_t purpose) {
  switch (purpose) {
  case CLEANUP_OPEN_DIRECTORY: return O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  case CLEANUP_OPEN_DIRECTORY_READ: return O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  case CLEANUP_OPEN_FILE_READ: return O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  case CLEANUP_OPEN_FILE: return O_PATH | O_NOFOLLOW | O_CLOEXEC;
  default: return -1;
  }
}

static int32_t open_resolved(int32_t directory, const char *path, int flags, uint64_t resolve) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = (uint64_t)(unsigned int)flags;
  how.resolve = resolve;
  for (int attempt = 0;; attempt++) {
    long descriptor = syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (descriptor >= 0) return (int32_t)descriptor;
    /* EAGAIN: a rename raced with the walk and the kernel could not rule out an escape. A few more tries, then it is the caller's. */
    if (errno == EINTR || (errno == EAGAIN && attempt < 16)) continue;
    return -errno;
  }
}

int32_t taskhost_cleanup_open_beneath(int32_t directory, const char *path, int32_t purpose, int32_t may_cross_mounts) {
  int flags = flags_for(purpose);
  if (flags < 0) return -EINVAL;
  uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (!may_cross_mounts) resolve |= RESOLVE_NO_XDEV;
  if (purpose == CLEANUP_OPEN_FILE_READ) {
    int32_t descriptor = open_resolved(directory, path, flags | O_NOATIME, resolve);
    if (descriptor != -EPERM) return descriptor; /* EPERM: not our file, its access time cannot be spared */
  }
  return open_resolved(directory, path, flags, resolve);
}

int32_t taskhost_cleanup_open_step(int32_t directory, const char *name, int32_t purpose) {
  int flags = flags_for(purpose);
  if (flags < 0 || (strchr(name, '/') != NULL && strcmp(name, "/") != 0)) return -EINVAL;
  int descriptor;
  do {
    descriptor = openat(directory, name, flags);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? -errno : descriptor;
}

int32_t taskhost_cleanup_open_proc(void) {
  long descriptor = syscall(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  return descriptor < 0 ? -errno : (int32_t)descriptor;
}

int32_t taskhost_cleanup_is_record_locked(int32_t descriptor) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int32_t taskhost_cleanup_claim(int32_t descriptor) {
  if (taskhost_cleanup_is_record_locked(descriptor)) return CLEANUP_CLAIM_IN_USE;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return CLEANUP_CLAIM_IN_USE;
  /* Before the lease, or the notice of a conflicting open would be SIGIO, which ends the process. */
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return CLEANUP_CLAIM_UNKNOWN;
  if (fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0) return CLEANUP_CLAIM_FREE;
  return errno == EAGAIN || errno == EBUSY ? CLEANUP_CLAIM_IN_USE : CLEANUP_CLAIM_UNKNOWN;
}
