#define _GNU_SOURCE
#include "taskhost_crash.h"

#include "stack_text.h"
#include "taskhost_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define ALTERNATE_STACK (64u << 10)

static taskhost_crash_cell *watched;
/* Whose end the cell is about; 0: also of processes that it forks, which share the cell. */
static pid_t watched_process;
static atomic_int is_leaving;

static _Thread_local uint64_t served_sequence, served_origin;
static _Thread_local void (*thread_exit_function)(void *);
static _Thread_local void *thread_exit_context;
static _Thread_local int is_prepared;

static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

uint32_t taskhost_crash_state(const taskhost_crash_cell *cell) { return __atomic_load_n(&cell->state, __ATOMIC_ACQUIRE); }

const char *taskhost_crash_text(const taskhost_crash_cell *cell) { return cell->text; }

void taskhost_crash_leaving(void) { atomic_store(&is_leaving, 1); }

/* The first thread to crash writes; others that crash wait for the end of the process. */
static int claim_cell(void) {
  if (watched_process != 0 && getpid() != watched_process) return 0;
  uint32_t nothing = TASKHOST_CRASH_NOTHING;
  return watched && __atomic_compare_exchange_n(&watched->state, &nothing, TASKHOST_CRASH_BEGUN, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void write_cell(uint32_t cause, int number, uint64_t address) {
  watched->version = TASKHOST_CRASH_VERSION;
  watched->cause = cause;
  watched->number = number;
  watched->run_sequence = served_sequence;
  watched->run_origin = served_origin;
  watched->address = address;
  watched->peak_resident_bytes = taskhost_process_peak_resident(0);
}

static void complete_cell(void) { __atomic_store_n(&watched->state, TASKHOST_CRASH_COMPLETE, __ATOMIC_RELEASE); }

/* Reading a broken stack can hang or fault: then the process dies a second later, with what is written so far. */
static void die_in_a_second(void) {
  signal(SIGALRM, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
  struct itimerval second = {.it_value = {.tv_sec = 1}};
  setitimer(ITIMER_REAL, &second, NULL);
}

static void on_fault(int number, siginfo_t *information, void *context) {
  int error = errno;
  if (claim_cell()) {
    write_cell(TASKHOST_CRASH_SIGNAL, number, (uint64_t)(uintptr_t)information->si_addr);
    die_in_a_second();
    /* A fault while reading the stack must not come back here. */
    signal(number, SIG_DFL);
    watched->text_length = (uint32_t)taskhost_stack_text(watched->text, sizeof watched->text, context, 1);
    complete_cell();
  }
  signal(number, SIG_DFL);
  errno = error;
  /* A processor fault happens again when this returns; a sent signal must be raised again. */
  if (information->si_code <= 0) raise(number);
}

static void make_thread_key(void);

void taskhost_crash_watch(taskhost_crash_cell *cell, int with_children) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
  taskhost_stack_prime();
  watched = cell;
  watched_process = with_children ? 0 : getpid();
  taskhost_crash_prepare_thread();
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigaction(faults[index], &action, NULL);
}

/* MARK: threads */

static void free_alternate_stack(void) {
  stack_t stack = {0};
  if (sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_DISABLE) || stack.ss_size != ALTERNATE_STACK) return;
  void *memory = stack.ss_sp;
  stack_t none = {.ss_flags = SS_DISABLE};
  if (sigaltstack(&none, NULL) == 0) munmap(memory, ALTERNATE_STACK);
}

/* The thread ends. If it still serves a run, its handler did not return. */
static void thread_ends(void *value) {
  (void)value;
  void (*function)(void *) = thread_exit_function;
  thread_exit_function = NULL;
  free_alternate_stack();
  if (function && (served_sequence || served_origin)) function(thread_exit_context);
}

static void make_thread_key(void) { pthread_key_create(&thread_key, thread_ends); }

void taskhost_crash_prepare_thread(void) {
  if (is_prepared) return;
  is_prepared = 1;
  pthread_once(&thread_key_once, make_thread_key);
  pthread_setspecific(thread_key, (void *)1);
  stack_t present = {0};
  if (sigaltstack(NULL, &present) == 0 && !(present.ss_flags & SS_DISABLE) && present.ss_size >= ALTERNATE_STACK) return;
  void *memory = mmap(NULL, ALTERNATE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {.ss_sp = memory, .ss_size = ALTERNATE_STACK};
  if (sigaltstack(&stack, NULL) != 0) munmap(memory, ALTERNATE_STACK);
}

void taskhost_crash_begin(uint64_t run_sequence) {
  if (!watched) return;
  uint64_t *runs = (uint64_t *)(void *)watched->begun;
  uint64_t place = __atomic_fetch_add(&watched->begun_count, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&runs[place % TASKHOST_CRASH_RUNS], run_sequence, __ATOMIC_RELEASE);
}

uint64_t taskhost_crash_begun_count(const taskhost_crash_cell *cell) { return __atomic_load_n(&cell->begun_count, __ATOMIC_ACQUIRE); }

int taskhost_crash_has_begun(const taskhost_crash_cell *cell, uint64_t run_sequence) {
  const uint64_t *runs = (const uint64_t *)(const void *)cell->begun;
  for (size_t index = 0; index < TASKHOST_CRASH_RUNS; index++) {
    if (__atomic_load_n(&runs[index], __ATOMIC_ACQUIRE) == run_sequence) return 1;
  }
  return 0;
}

void taskhost_crash_serve(uint64_t run_sequence, uint64_t run_origin) {
  served_sequence = run_sequence;
  served_origin = run_origin;
}

void taskhost_crash_on_thread_exit(void (*function)(void *), void *context) {
  thread_exit_context = context;
  thread_exit_function = function;
}

/* MARK: a plugin that ends the process */

static void note_exit(int status) {
  if (!watched || atomic_load(&is_leaving) || !claim_cell()) return;
  write_cell(TASKHOST_CRASH_EXIT, status, 0);
  watched->text_length = (uint32_t)taskhost_stack_text(watched->text, sizeof watched->text, NULL, 1);
  complete_cell();
}

/* These take precedence over libc's in every lookup, because they belong to the executable. */
__attribute__((visibility("default"), noreturn)) void exit(int status) {
  note_exit(status);
  void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
  if (real) real(status);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void quick_exit(int status) {
  note_exit(status);
  void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "quick_exit");
  if (real) real(status);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
  note_exit(status);
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status) { _exit(status); }
