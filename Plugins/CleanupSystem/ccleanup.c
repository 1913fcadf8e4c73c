#define _GNU_SOURCE
#include "CCleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
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
    /* EAGAIN: a rename raced with the walk, and the kernel could not rule out an escape. Retry a few times, then report it. */
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
    if (descriptor != -EPERM) return descriptor; /* EPERM: only a file's owner may use O_NOATIME */
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

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

static int64_t nanoseconds(int64_t seconds, int64_t fraction) {
  const int64_t most = 9000000000; /* the year 2255 */
  if (seconds > most) seconds = most;
  if (seconds < -most) seconds = -most;
  return seconds * 1000000000 + fraction;
}

/* The mount of an open descriptor from /proc, for kernels before 5.8. 0 if unknown. */
static uint64_t mount_of(int descriptor) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = 0;
  const char *line = strstr(text, "mnt_id:");
  return line == NULL ? 0 : strtoull(line + 7, NULL, 10);
}

/* For kernels and seccomp filters without statx. */
static int32_t old_status(int32_t directory, const char *name, int flags, struct taskhost_cleanup_status *status) {
  struct stat found;
  if (fstatat(directory, name, &found, flags) != 0) return -errno;
  status->device = (uint64_t)found.st_dev;
  status->inode = (uint64_t)found.st_ino;
  status->size = found.st_size < 0 ? 0 : (uint64_t)found.st_size;
  status->links = (uint64_t)found.st_nlink;
  status->modified = nanoseconds(found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
  status->accessed = nanoseconds(found.st_atim.tv_sec, found.st_atim.tv_nsec);
  status->changed = nanoseconds(found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
  status->born = INT64_MIN;
  status->mode = found.st_mode;
  status->owner = found.st_uid;
  return 0;
}

int32_t taskhost_cleanup_status(int32_t directory, const char *name, int32_t follows, struct taskhost_cleanup_status *status) {
  memset(status, 0, sizeof *status);
  int flags = AT_NO_AUTOMOUNT | (name[0] == 0 ? AT_EMPTY_PATH : 0) | (follows ? 0 : AT_SYMLINK_NOFOLLOW);
  struct statx found;
  if (statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &found) == 0) {
    status->device = makedev(found.stx_dev_major, found.stx_dev_minor);
    status->inode = found.stx_ino;
    status->mount = (found.stx_mask & STATX_MNT_ID) != 0 ? found.stx_mnt_id : 0;
    status->size = found.stx_size > INT64_MAX ? INT64_MAX : found.stx_size;
    status->links = found.stx_nlink;
    status->modified = nanoseconds(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec);
    status->accessed = nanoseconds(found.stx_atime.tv_sec, found.stx_atime.tv_nsec);
    status->changed = nanoseconds(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec);
    status->born = (found.stx_mask & STATX_BTIME) != 0 ? nanoseconds(found.stx_btime.tv_sec, found.stx_btime.tv_nsec) : INT64_MIN;
    status->mode = found.stx_mode;
    status->owner = found.stx_uid;
    status->is_guarded = (found.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
  } else if (errno == ENOSYS || errno == EPERM) {
    int32_t result = old_status(directory, name, flags, status);
    if (result != 0) return result;
  } else {
    return -errno;
  }
  if (status->mount == 0 && name[0] == 0) status->mount = mount_of(directory);
  return 0;
}

int32_t taskhost_cleanup_can_change(int32_t directory) {
  /* The dot makes this work for a reference (O_PATH) too. */
  return faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) == 0 ? 0 : -errno;
}

int32_t taskhost_cleanup_may_lease(void) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 0;
  int may = fcntl(ends[0], F_SETSIG, SIGURG) == 0;
  close(ends[0]);
  close(ends[1]);
  return may;
}

uint64_t taskhost_cleanup_memory_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return (uint64_t)limit.rlim_cur;
}

int32_t taskhost_cleanup_overrides_owners(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0, sizeof data);
  if (syscall(SYS_capget, &header, data) != 0) return 0;
  return (data[CAP_TO_INDEX(CAP_DAC_OVERRIDE)].effective & CAP_TO_MASK(CAP_DAC_OVERRIDE)) != 0
      && (data[CAP_TO_INDEX(CAP_FOWNER)].effective & CAP_TO_MASK(CAP_FOWNER)) != 0;
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
  /* Set before the lease: otherwise the kernel would announce a conflicting open by SIGIO, which ends the process. */
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return CLEANUP_CLAIM_UNKNOWN;
  if (fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0) return CLEANUP_CLAIM_FREE;
  return errno == EAGAIN || errno == EBUSY ? CLEANUP_CLAIM_IN_USE : CLEANUP_CLAIM_UNKNOWN;
}
