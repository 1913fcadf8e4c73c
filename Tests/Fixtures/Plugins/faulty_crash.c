/*
 * Runs that end their process, or try to. Faults 41, 42, 45 to 50 and, of the launch, those that -DAT_CONSTRUCTOR=… names (24 to 29).
 *
 *   segfault, abort, stack-overflow, heap-corruption, illegal, divide
 *   longjmp            back into the launch function, which has returned long ago
 *   exit N, _exit N, quick_exit N, _Exit N, system-exit N
 *   pthread_exit, sigstop, sigkill
 *   kill-host          SIGKILL to the parent process, in each way there is
 *   thread-segfault    a segmentation fault on a thread of the plugin's own, while the run waits for it
 *
 * -DSHUTDOWN_CRASHES, -DSHUTDOWN_HANGS: a shutdown hook that does (75).
 */
static void remember_launch(void);
#define AT_LAUNCH remember_launch()

#include "faulty_run.h"

#include <setjmp.h>
#include <sys/syscall.h>

static jmp_buf launch_frame;

static void remember_launch(void) {
  if (setjmp(launch_frame) != 0) abort();
}

static volatile int *volatile nowhere = (volatile int *)8;

static void segfault(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  *nowhere = 1;
}

static void abort_run(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  abort();
}

/* Called through a pointer, so that no compiler sees that it never ends. */
static int deeper(volatile char *above, int depth);
static int (*volatile next_frame)(volatile char *, int) = deeper;

static int deeper(volatile char *above, int depth) {
  volatile char here[4096];
  here[0] = above[0];
  return next_frame(here, depth + 1) + here[depth % 4096];
}

static void stack_overflow(fault_run *run, const char *argument) {
  (void)argument;
  volatile char top[1] = {0};
  run->result = deeper(top, 0);
}

/* Writes over the allocator's own words around a block and frees it: glibc notices and aborts. */
static void heap_corruption(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  char *volatile blocks[64];
  for (int index = 0; index < 64; index++) blocks[index] = malloc(2000);
  for (int index = 0; index < 64; index++) memset(blocks[index] - 16, 0xA5, 2016);
  for (int index = 0; index < 64; index++) free(blocks[index]);
}

static void illegal(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  __builtin_trap();
}

static void divide(fault_run *run, const char *argument) {
  (void)argument;
  volatile int zero = 0;
  run->result = 7 / zero; /* 1 / x is no division to a compiler */
}

static void jump(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  longjmp(launch_frame, 1);
}

static void exit_with(fault_run *run, const char *argument) {
  (void)run;
  exit(atoi(argument));
}

static void underscore_exit(fault_run *run, const char *argument) {
  (void)run;
  _exit(atoi(argument));
}

static void capital_exit(fault_run *run, const char *argument) {
  (void)run;
  _Exit(atoi(argument));
}

static void quick_exit_with(fault_run *run, const char *argument) {
  (void)run;
  quick_exit(atoi(argument));
}

static void system_exit(fault_run *run, const char *argument) {
  (void)run;
  syscall(SYS_exit_group, atoi(argument));
}

static void thread_exit(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  pthread_exit(NULL);
}

static void stop(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "raise", "%d", raise(SIGSTOP));
}

static void kill_self(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "kill", "%d", kill(getpid(), SIGKILL));
}

static void kill_host(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "parent", "%d", kill(getppid(), SIGKILL));
  fact(run, "first_thread", "%d", (int)syscall(SYS_tgkill, getppid(), getppid(), SIGKILL));
  fact(run, "queue", "%d", sigqueue(getppid(), SIGKILL, (union sigval){0}));
  fact(run, "errno", "%d", errno);
}

static void *segfault_thread(void *context) {
  segfault(context, "");
  return NULL;
}

static void thread_segfault(fault_run *run, const char *argument) {
  (void)argument;
  pthread_t thread;
  if (pthread_create(&thread, NULL, segfault_thread, run) == 0) pthread_join(thread, NULL);
}

static const fault_step fault_steps[] = {
  {"segfault", segfault},
  {"abort", abort_run},
  {"stack-overflow", stack_overflow},
  {"heap-corruption", heap_corruption},
  {"illegal", illegal},
  {"divide", divide},
  {"longjmp", jump},
  {"exit", exit_with},
  {"_exit", underscore_exit},
  {"_Exit", capital_exit},
  {"quick_exit", quick_exit_with},
  {"system-exit", system_exit},
  {"pthread_exit", thread_exit},
  {"sigstop", stop},
  {"sigkill", kill_self},
  {"kill-host", kill_host},
  {"thread-segfault", thread_segfault},
  {NULL, NULL},
};

#if defined(SHUTDOWN_CRASHES) || defined(SHUTDOWN_HANGS)
TASKHOST_EXPORT void taskhost_plugin_shutdown(void) {
  fprintf(stderr, "shutdown hook of " IDENTIFIER "\n");
#ifdef SHUTDOWN_CRASHES
  abort();
#endif
  for (;;) pause();
}
#endif
