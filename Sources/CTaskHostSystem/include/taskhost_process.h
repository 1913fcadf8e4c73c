/*
 * System calls for child processes that Swift cannot call by itself. Each answers as the call it wraps.
 */
#ifndef TASKHOST_PROCESS_H
#define TASKHOST_PROCESS_H

#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

/* The process dies when the thread that spawned it ends (prctl PR_SET_PDEATHSIG, SIGKILL). */
int taskhost_process_die_with_parent(void);

/* Programs that this process starts have none of its descriptors from `first` on. */
int taskhost_process_close_on_exec(int first);

/* Makes a process that does nothing but kill this process's group when this process ends, however it ends: the programs that a worker may
 * start do not outlive it. Call it while there is one thread, which must live as long as the process. 0, or -1: errno. */
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

/* Kills the process group that the child leads, then takes the child's end. 0: it is gone; 1: it has not ended; -1: errno. */
int taskhost_process_end_group(pid_t leader, taskhost_process_end *end);

/* The most memory the process has had resident since it was started, in bytes; 0: not known. 0 as `process`: the calling one.
 * (What wait4 and getrusage say of that includes the process it was spawned from.) No allocation; may be called in a signal handler. */
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
