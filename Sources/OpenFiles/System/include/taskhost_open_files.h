/* Which files are open: the scan of /proc, and the question to the kernel. Any thread; no state. */
#ifndef TASKHOST_OPEN_FILES_H
#define TASKHOST_OPEN_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Called for each file and directory that some process has open, is in, runs or has mapped, and for those that the kernel itself uses as
 * disks or for swapping. */
typedef void (*taskhost_open_files_seen)(void *context, uint64_t device, uint64_t inode);

/* Looks through all processes once. Whether it saw everything: each process, with nothing hidden by privileges or a process namespace.
 * Threads that have unshared their descriptors from their process are not looked at. */
bool taskhost_open_files_scan(taskhost_open_files_seen seen, void *context);

/* Opens an absolute path as a place to look up names (O_PATH), through no symlink. A descriptor that the caller closes, or a negative errno. */
int taskhost_open_files_directory(const char *path);

/* Opens a directory below one of those, through no symlink and no mount point, in the same way. */
int taskhost_open_files_folder(int directory, const char *path);

/* Whether `path`, from there through no symlink and no mount point, is that file or directory. */
bool taskhost_open_files_is(int directory, const char *path, uint64_t device, uint64_t inode);

/* Asks the kernel for a write lease on that regular file, and gives it back at once. 1: somebody has it open. 0: nobody has. -1: it cannot be
 * told, or it is not that file. */
int taskhost_open_files_lease(int directory, const char *path, uint64_t device, uint64_t inode);

#endif
