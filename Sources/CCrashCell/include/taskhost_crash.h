/*
 * What a process leaves behind when one of its plugins takes it down: which run it was, by which signal or
 * exit, and the stack. The cell is memory shared with whoever outlives the process: the host (a worker's
 * cell is a memfd) or the next host (a file of the state directory).
 *
 * The functions are for one process, not for one object: there is one cell, one set of signal handlers.
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
  /* The run that the thread served; 0, 0: none. */
  uint64_t run_sequence, run_origin;
  /* The address that could not be used, of a memory fault. */
  uint64_t address;
  /* The most memory the process has had resident, in bytes; 0: not known. */
  uint64_t peak_resident_bytes;
  uint32_t text_length, reserved;
  /* The stack, a line a frame, without a 0 at its end. May be cut off while the state is BEGUN. */
  char text[TASKHOST_CRASH_TEXT];
  /* How many runs have begun, and the sequences of the last of them, a ring of uint64_t. Written by whoever begins a run. */
  uint64_t begun_count;
  unsigned char begun[TASKHOST_CRASH_RUNS * sizeof(uint64_t)];
} taskhost_crash_cell;

/* Where the text begins. */
const char *taskhost_crash_text(const taskhost_crash_cell *cell);

/* Reads the state so that what was written before it is seen. */
uint32_t taskhost_crash_state(const taskhost_crash_cell *cell);

/* Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP and SIGSYS, which fill `cell` and let the process die.
 * Calls to exit, _exit, _Exit and quick_exit are noted there too, until taskhost_crash_leaving is called. */
void taskhost_crash_watch(taskhost_crash_cell *cell);

/* Call it before the process ends voluntarily. */
void taskhost_crash_leaving(void);

/* Gives the calling thread a stack for signal handlers, so that the overflow of its own is noted too. Freed when it ends. */
void taskhost_crash_prepare_thread(void);

/* A run begins: what handed it out can tell from the cell that it has, also when the process dies before it says so. On any thread. */
void taskhost_crash_begin(uint64_t run_sequence);

/* How many runs have begun so far. */
uint64_t taskhost_crash_begun_count(const taskhost_crash_cell *cell);

/* Whether the run is one of the last TASKHOST_CRASH_RUNS that have begun. */
int taskhost_crash_has_begun(const taskhost_crash_cell *cell, uint64_t run_sequence);

/* The calling thread serves this run from now on; 0, 0: none. */
void taskhost_crash_serve(uint64_t run_sequence, uint64_t run_origin);

/* Called, with the context, when a thread that serves a run ends by pthread_exit instead of returning. On that thread. */
void taskhost_crash_on_thread_exit(void (*function)(void *), void *context);

/* The number of the calling thread, for taskhost_crash_stack_of. */
int taskhost_crash_thread_number(void);

/* Writes the stack of another thread of this process, a line a frame, and its length; waits for it up to `milliseconds`.
 * Returns 0, or -1: the thread did not answer (it blocks the signal, or is stuck in the kernel). One caller at a time gets through. */
int taskhost_crash_stack_of(int thread_number, char *buffer, size_t capacity, size_t *length, int milliseconds);

/* The signal that taskhost_crash_stack_of uses: a thread that is to be seen must not block it. */
#define TASKHOST_CRASH_STACK_SIGNAL (SIGRTMIN + 6)

#endif
