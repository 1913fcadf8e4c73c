/* Finds out which files are open, through /proc or by asking the kernel. Any thread; no state. */
#ifndef TASKHOST_OPEN_FILES_H
#define TASKHOST_OPEN_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Called for each file and directory that a process has open or mapped, runs, or works in, and for each that the kernel uses as disk or swap. */
typedef void (*taskhost_open_files_seen)(void *context, uint64_t device, uint64_t inode);

/* Scans all processes once. Returns whether it saw everything: no process was hidden by missing privileges or a process namespace.
 * Skips threads that do not share their process's descriptors. */
bool taskhost_open_files_scan(taskhost_open_files_seen seen, void *context);

/* Opens an absolute directory path with O_PATH, following no symlink. Returns a descriptor that the caller closes, or a negative errno. */
int taskhost_open_files_directory(const char *path);

/* The same for a path below `directory`, crossing no symlink and no mount point. */
int taskhost_open_files_folder(int directory, const char *path);

/* Whether `path` below `directory` is that file or directory, crossing no symlink and no mount point. */
bool taskhost_open_files_is(int directory, const char *path, uint64_t device, uint64_t inode);

/* Requests a write lease on that regular file and releases it at once. Returns 1 if the file is open, 0 if not, -1 if that is unknown or
 * the path leads to another file. */
int taskhost_open_files_lease(int directory, const char *path, uint64_t device, uint64_t inode);

#endif
