/*
 * System calls for child processes that Swift cannot call by itself. Each returns what the call it wraps returns.
 */
#ifndef TASKHOST_PROCESS_H
#define TASKHOST_PROCESS_H

#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

/* The process dies when the thread that spawned it ends (prctl PR_SET_PDEATHSIG, SIGKILL). */
int taskhost_process_die_with_parent(void);

/* Programs that this process starts do not inherit descriptors from `first` on. */
int taskhost_process_close_on_exec(int first);

/* Creates a process that kills this process's group when this process ends for any reason, so that programs started by a worker do not
 * outlive it. Call it while there is one thread, which must live as long as the process. Returns 0, or -1 with errno. */
int taskhost_process_guard_group(void);

/* A child spawned with these actions has no descriptor from `first` on. */
int taskhost_process_close_from(posix_spawn_file_actions_t *actions, int first);

/* A child spawned with these actions starts in `directory`. */
int taskhost_process_begin_in(posix_spawn_file_actions_t *actions, const char *directory);

/* A descriptor that poll finds readable when the child has ended (pidfd_open; close-on-exec). */
int taskhost_process_descriptor(pid_t process);

/* The status of a child that other code in this process has already reaped. */
#define TASKHOST_PROCESS_TAKEN (-1000)

/* The result of an ended child. */
typedef struct taskhost_process_end {
  /* The exit status, or the negative number of the signal that killed it, or TASKHOST_PROCESS_TAKEN. */
  int32_t status, reserved;
  uint64_t cpu_nanoseconds;
  /* Of the child, or of the process it was spawned from, whichever was larger. */
  uint64_t peak_resident_bytes;
} taskhost_process_end;

/* Kills the process group that the child leads, then reaps the child. Returns 0 if it is gone, 1 if it has not ended, -1 with errno. */
int taskhost_process_end_group(pid_t leader, taskhost_process_end *end);

/* The peak resident memory of the process since its start in bytes; 0 if unknown. `process` 0 means the calling process.
 * (The values of wait4 and getrusage include the process it was spawned from.) Does not allocate; safe in a signal handler. */
uint64_t taskhost_process_peak_resident(pid_t process);

/* A new set of descriptors to wait for (epoll). */
int taskhost_poll_create(void);
/* Waits for `descriptor` to become readable, and writable too if asked; edge-free. `token` comes back from taskhost_poll_wait. */
int taskhost_poll_set(int poll, int descriptor, int is_new, int writable, uint64_t token);
int taskhost_poll_remove(int poll, int descriptor);

typedef struct taskhost_poll_event {
  uint64_t token;
  /* Bits: 1 readable (or ended), 2 writable. */
  uint32_t ready, reserved;
} taskhost_poll_event;

/* Waits up to `nanoseconds` (negative: forever) and fills up to `capacity` events, at most 64. */
int taskhost_poll_wait(int poll, taskhost_poll_event *events, int capacity, int64_t nanoseconds);

/* Seals the size of a memfd that was made for it. */
int taskhost_system_seal_size(int descriptor);

/* Makes the descriptor non-blocking. */
int taskhost_set_nonblocking(int descriptor);

#endif
