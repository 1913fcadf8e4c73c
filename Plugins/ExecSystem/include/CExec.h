/* Starting and ending the child processes of the exec plugin: system calls that Swift's Glibc module lacks, and what must run between fork
 * and exec without allocating. */
#ifndef TASKHOST_EXEC_SYSTEM_H
#define TASKHOST_EXEC_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to start. All pointers are borrowed during the call. */
typedef struct taskhost_exec_order {
  const char *path;           /* the program, absolute */
  char *const *arguments;     /* NULL-terminated, the first is the name */
  char *const *environment;   /* NULL-terminated */
  char *session;              /* ten digits in `environment`, where the child writes its process id, which names its session */
  const char *directory;      /* where the program starts */
  const char *fallback;       /* instead of `directory` if that cannot be entered; NULL: the start fails */
  int32_t input, output, error; /* become 0, 1, 2; the child gets no other descriptors */
  int32_t is_sandboxed;       /* 1: the worker's sandbox refuses a session of its own, and death with the thread */
  int32_t changes_user;       /* 0: user, group and groups are ignored */
  uint32_t user, group;
  const uint32_t *groups;
  uint64_t group_count;
  uint64_t memory;            /* limit on the address space in bytes; 0: as this process */
  uint64_t descriptors;       /* limit on descriptors; 0: 1024, or the hard limit if that is less */
} taskhost_exec_order;

/* What a start was doing when it failed. */
enum {
  TASKHOST_EXEC_FORK = 1,
  TASKHOST_EXEC_DIRECTORY,
  TASKHOST_EXEC_USER,
  TASKHOST_EXEC_LIMIT,
  TASKHOST_EXEC_PROGRAM,
  TASKHOST_EXEC_SETUP
};

/* Starts the program as the leader of a new session and process group; it dies when the calling thread ends. (Sandboxed: neither.) Returns its process id, with a
 * descriptor in *descriptor that becomes readable when it has ended and that the caller closes (pidfd); or a negative errno, with what failed
 * in *step, and no process is left. */
int32_t taskhost_exec_start(const taskhost_exec_order *order, int32_t *descriptor, int32_t *step);

/* Whether the child has ended: 0 no, 1 it exited with *code, 2 a signal *code ended it, negative errno. The child remains a zombie, so its
 * id cannot be given to another process. */
int32_t taskhost_exec_ended(int32_t process, int32_t *code);

/* Removes the zombie of a child that has ended. */
void taskhost_exec_reap(int32_t process);

/* A file in memory with that content, positioned at its begin, closed by exec; or a negative errno. */
int32_t taskhost_exec_content(const void *bytes, size_t length);

/* A pipe whose ends are closed by exec. The end named by `ours` (0 reads, 1 writes) does not block. 0 or a negative errno. */
int32_t taskhost_exec_pipe(int32_t ends[2], int32_t ours);

/* Writes without SIGPIPE and without blocking. Returns the number of bytes, or a negative errno. */
int64_t taskhost_exec_write(int32_t descriptor, const void *bytes, size_t length);

/* A user of the machine; the texts are in the buffer of the call that found it. */
typedef struct taskhost_exec_account {
  uint32_t user, group;
  const char *name, *home;
} taskhost_exec_account;

/* Looks up a user by name, or by `user` if name is NULL. 0; 1 if there is no such user; a negative errno. */
int32_t taskhost_exec_account_of(const char *name, uint32_t user, taskhost_exec_account *account, char *buffer, size_t capacity);

/* The groups of a user. Returns their number, at most `capacity` are stored; or a negative errno. */
int64_t taskhost_exec_groups_of(const char *name, uint32_t group, uint32_t *groups, uint64_t capacity);

#ifdef __cplusplus
}
#endif
#endif
