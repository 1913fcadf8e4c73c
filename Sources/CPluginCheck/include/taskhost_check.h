/*
 * Functions of the plugin checker that Swift cannot call by itself.
 */
#ifndef TASKHOST_CHECK_H
#define TASKHOST_CHECK_H

#include <stdint.h>

/* The bytes that malloc has given out in this process and not got back (mallinfo2). */
uint64_t taskhost_check_memory_in_use(void);

/* 0: the file system of `path` is mounted so that nothing on it can be executed (noexec). Else 1. */
int taskhost_check_may_execute(const char *path);

/* Removes a folder and everything in it, as far as possible; does not follow links. */
void taskhost_check_remove_tree(const char *path);

/*
 * From now on SIGINT, SIGTERM and SIGHUP end nobody: each is a byte, its number, in a pipe, whichever thread it comes to. Answers the end to
 * read from, which is the caller's to close, or -1 with errno. Once at a time in a process.
 */
int taskhost_check_catch_signals(void);

/* Restores the signals' earlier dispositions; a read of the pipe finds its end. */
void taskhost_check_release_signals(void);

#endif
