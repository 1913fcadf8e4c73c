/*
 * The crash report of a process whose plugin crashed it: the run, the signal or exit status, and the stack. The cell is
 * memory shared with the process that reads it: the host (a worker's cell is a memfd) or the next host process (a file of
 * the state directory). A process has one cell and one set of signal handlers.
 */
#ifndef TASKHOST_CRASH_H
#define TASKHOST_CRASH_H

#include <stddef.h>
#include <stdint.h>

#define TASKHOST_CRASH_VERSION 1u
#define TASKHOST_CRASH_TEXT 6144
/* The number of begun runs that are remembered. */
#define TASKHOST_CRASH_RUNS 1024

enum { TASKHOST_CRASH_NOTHING = 0, TASKHOST_CRASH_BEGUN = 1, TASKHOST_CRASH_COMPLETE = 2 };
enum { TASKHOST_CRASH_SIGNAL = 1, TASKHOST_CRASH_EXIT = 2, TASKHOST_CRASH_THREAD_EXIT = 3 };

typedef struct taskhost_crash_cell {
  uint32_t version;
  /* TASKHOST_CRASH_…; set to BEGUN before, to COMPLETE after the rest is written. Read with taskhost_crash_state. */
  uint32_t state;
  uint32_t cause;
  /* The signal's number or the exit status. */
  int32_t number;
  /* The run that the thread served; 0, 0 for none. */
  uint64_t run_sequence, run_origin;
  /* The faulting address of a memory fault. */
  uint64_t address;
  /* The peak resident memory of the process in bytes; 0 if unknown. */
  uint64_t peak_resident_bytes;
  uint32_t text_length, reserved;
  /* The stack, one line for each frame, without a final 0. May be cut off while the state is BEGUN. */
  char text[TASKHOST_CRASH_TEXT];
  /* The number of begun runs, and a ring with the sequences of the last ones as uint64_t. Written by the threads that begin runs. */
  uint64_t begun_count;
  unsigned char begun[TASKHOST_CRASH_RUNS * sizeof(uint64_t)];
} taskhost_crash_cell;

const char *taskhost_crash_text(const taskhost_crash_cell *cell);

/* Reads the state with acquire order, so that everything written before it is visible. */
uint32_t taskhost_crash_state(const taskhost_crash_cell *cell);

/* Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP and SIGSYS, which fill `cell` and let the process die.
 * Calls to exit, _exit, _Exit and quick_exit are recorded too, until taskhost_crash_leaving is called. What a process does that this one
 * forks is recorded only `with_children`: a cell has room for one end. */
void taskhost_crash_watch(taskhost_crash_cell *cell, int with_children);

/* Call it before the process ends voluntarily. */
void taskhost_crash_leaving(void);

/* Gives the calling thread a stack for signal handlers, so that a stack overflow is recorded too. Freed when the thread ends. */
void taskhost_crash_prepare_thread(void);

/* Records that a run begins. The process that handed it out can read this even if this process dies before reporting it. Any thread. */
void taskhost_crash_begin(uint64_t run_sequence);

uint64_t taskhost_crash_begun_count(const taskhost_crash_cell *cell);

/* Whether the run is one of the last TASKHOST_CRASH_RUNS that have begun. */
int taskhost_crash_has_begun(const taskhost_crash_cell *cell, uint64_t run_sequence);

/* The calling thread starts to serve this run; 0, 0 for none. */
void taskhost_crash_serve(uint64_t run_sequence, uint64_t run_origin);

/* Sets a function that is called on a thread that serves a run and ends by pthread_exit instead of returning. */
void taskhost_crash_on_thread_exit(void (*function)(void *), void *context);

/* The number of the calling thread, for taskhost_crash_stack_of. */
int taskhost_crash_thread_number(void);

/* Writes the stack of another thread of this process, one line for each frame, and its length. Waits up to `milliseconds`
 * whenever it asks, which it does again if it gets one frame only.
 * Returns 0, or -1 if the thread did not answer (it blocks the signal, or hangs in the kernel). Serves one caller at a time. */
int taskhost_crash_stack_of(int thread_number, char *buffer, size_t capacity, size_t *length, int milliseconds);

/* The signal of taskhost_crash_stack_of. Threads must not block it if their stacks are to be read. */
#define TASKHOST_CRASH_STACK_SIGNAL (SIGRTMIN + 6)

#endif
