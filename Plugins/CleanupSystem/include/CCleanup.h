/* The system calls of the cleanup plugin that Swift cannot reach: openat2 has no wrapper in the C library, and leases, file locks of open
   descriptions and O_PATH are not imported. Every function may be called from any thread, keeps no state and never blocks on a lock. */
#ifndef TASKHOST_CCLEANUP_H
#define TASKHOST_CCLEANUP_H

#include <stdint.h>

/* Linked into the plugin, and not visible outside. */
#define CLEANUP_INTERNAL __attribute__((visibility("hidden")))

#ifdef __cplusplus
extern "C" {
#endif

/* How an entry is opened. All are close-on-exec, and none follows a symlink. */
enum {
  CLEANUP_OPEN_DIRECTORY = 0,      /* a directory, only to look up names in it (O_PATH) */
  CLEANUP_OPEN_DIRECTORY_READ = 1, /* a directory, to list it */
  CLEANUP_OPEN_FILE_READ = 2,      /* a file, to read; never waits for a fifo's writer; keeps the access time if permitted */
  CLEANUP_OPEN_FILE = 3            /* a file, as a reference only (O_PATH): needs no permission to read it */
};

/* The result of taskhost_cleanup_claim. */
enum {
  CLEANUP_CLAIM_FREE = 0,    /* no one else has it open: the kernel granted a write lease, which lasts until the descriptor is closed */
  CLEANUP_CLAIM_IN_USE = 1,  /* someone else has it open, mapped or locked */
  CLEANUP_CLAIM_UNKNOWN = 2  /* no lock is held, but the kernel grants no lease here (another owner, or a file system without leases) */
};

/* openat2(2) of `path`, relative and not empty, with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS,
   and with RESOLVE_NO_XDEV unless `may_cross_mounts` is 1.
   `path` is borrowed. Returns a descriptor that the caller closes, or a negative errno: -ENOSYS if the kernel has no openat2,
   -ELOOP at a symlink, -EXDEV at a mount point or if the path leaves `directory`. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_open_beneath(int32_t directory, const char *path, int32_t purpose, int32_t may_cross_mounts);

/* openat(2) of one name without a slash, with O_NOFOLLOW: one step of a path if openat2 is missing. "/" is also accepted, as the start
of an absolute path. Returns a descriptor that the caller closes, or a negative errno. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_open_step(int32_t directory, const char *name, int32_t purpose);

/* The file system's metadata of an entry. Times are nanoseconds since 1970, clamped to 64 bits. */
struct taskhost_cleanup_status {
  uint64_t device;
  uint64_t inode;
  uint64_t mount; /* the mount through which it was reached; 0 if the kernel does not report it */
  uint64_t size;  /* apparent size in bytes */
  uint64_t links; /* the number of its hard links */
  int64_t modified;
  int64_t accessed;
  int64_t changed;
  int64_t born; /* INT64_MIN if the file system does not record it */
  uint32_t mode;
  uint32_t owner;
  uint32_t is_guarded; /* 1: immutable or append-only, so nobody may remove it or anything in it */
  uint32_t reserved;
};

/* statx(2) of `name` in `directory`; "" means `directory` itself. `follows` 1 follows a final symlink, 0 does not.
   Returns 0 or a negative errno. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_status(
    int32_t directory, const char *name, int32_t follows, struct taskhost_cleanup_status *status);

/* Returns 0 if mode and mount let this process add and remove names in `directory`, otherwise a negative errno. Ignores the sandbox. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_can_change(int32_t directory);

/* Returns 1 if the kernel lets this process request leases. It does not in a worker process. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_may_lease(void);

/* Returns the limit on this process's private writable memory in bytes (RLIMIT_DATA); UINT64_MAX if there is none. */
CLEANUP_INTERNAL uint64_t taskhost_cleanup_memory_limit(void);

/* Returns 1 if this process may change other users' files, as root with its capabilities may. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_overrides_owners(void);

/* Returns 1 if another process, or another open description, holds a POSIX or OFD lock on this file; 0 if none does, or if this is
unknown. Takes no lock itself. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_is_record_locked(int32_t descriptor);

/* Claims a file opened with CLEANUP_OPEN_FILE_READ: looks for record locks, takes flock(2) exclusively without waiting, then asks for a
   write lease, which the kernel grants only while no other descriptor has the file open. The claim ends when the descriptor is closed.
   A process that opens the file meanwhile waits until then; the kernel announces this by SIGURG, which is ignored by default. */
CLEANUP_INTERNAL int32_t taskhost_cleanup_claim(int32_t descriptor);

#ifdef __cplusplus
}
#endif

#endif
