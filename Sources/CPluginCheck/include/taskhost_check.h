/*
 * Functions that the plugin checker needs from C.
 */
#ifndef TASKHOST_CHECK_H
#define TASKHOST_CHECK_H

#include <stdint.h>

/* The bytes allocated with malloc in this process and not freed (mallinfo2). */
uint64_t taskhost_check_memory_in_use(void);

/* 0 if the file system of `path` is mounted noexec, otherwise 1. */
int taskhost_check_may_execute(const char *path);

/* Removes a folder and everything in it, as far as possible. Does not follow links. */
void taskhost_check_remove_tree(const char *path);

/*
 * Makes SIGINT, SIGTERM and SIGHUP write their number as a byte into a pipe, on any thread, instead of ending the process. Returns the
 * pipe's read end, which the caller closes, or -1 with errno. Calls must not nest.
 */
int taskhost_check_catch_signals(void);

/* Restores the signals' earlier dispositions. Reading the pipe then returns end of file. */
void taskhost_check_release_signals(void);

#endif
