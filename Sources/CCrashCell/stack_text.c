#define _GNU_SOURCE
#include "stack_text.h"

#include "taskhost_crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES 48

typedef struct writer {
  char *buffer;
  size_t capacity, length;
} writer;

static void put(writer *out, const char *text) {
  for (; *text && out->length < out->capacity; text++) {
    /* Names come from untrusted files. */
    unsigned char byte = (unsigned char)*text;
    out->buffer[out->length++] = byte < 0x20 || byte >= 0x7F ? '?' : (char)byte;
  }
}

static void put_line_end(writer *out) {
  if (out->length < out->capacity) out->buffer[out->length++] = '\n';
}

static void put_number(writer *out, uint64_t value, unsigned base) {
  char digits[24];
  size_t position = sizeof digits;
  digits[--position] = 0;
  do {
    digits[--position] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value && position);
  put(out, digits + position);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void put_frame(writer *out, int number, void *address) {
  Dl_info place;
  put(out, "#");
  put_number(out, (uint64_t)number, 10);
  put(out, " ");
  if (!dladdr(address, &place) || !place.dli_fname) {
    put(out, "0x");
    put_number(out, (uint64_t)(uintptr_t)address, 16);
  } else {
    if (place.dli_sname) {
      put(out, place.dli_sname);
      put(out, " + ");
      put_number(out, (uint64_t)((uintptr_t)address - (uintptr_t)place.dli_saddr), 10);
      put(out, " in ");
    }
    put(out, base_name(place.dli_fname));
    put(out, " + 0x");
    put_number(out, (uint64_t)((uintptr_t)address - (uintptr_t)place.dli_fbase), 16);
  }
  put_line_end(out);
}

/* The address at which the signal interrupted the thread; NULL if unknown. */
static void *interrupted_at(const void *context) {
  if (!context) return NULL;
  const ucontext_t *interrupted = context;
#if defined(__x86_64__)
  return (void *)interrupted->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (void *)interrupted->uc_mcontext.pc;
#else
  return NULL;
#endif
}

size_t taskhost_stack_text(char *buffer, size_t capacity, const void *context, int skip) {
  void *frames[FRAMES];
  int count = backtrace(frames, FRAMES);
  writer out = {.buffer = buffer, .capacity = capacity};
  int first = skip + 1;
  void *interrupted = interrupted_at(context);
  for (int index = 0; interrupted && index < count; index++) {
    if (frames[index] == interrupted) first = index;
  }
  for (int index = first, number = 0; index < count; index++, number++) put_frame(&out, number, frames[index]);
  return out.length;
}

/* MARK: the stack of another thread */

static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint wanted;
static atomic_uint answered;
static sem_t answer;
static char answer_text[TASKHOST_CRASH_TEXT];
static atomic_size_t answer_length;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

int taskhost_crash_thread_number(void) { return (int)syscall(SYS_gettid); }

static void on_question(int number, siginfo_t *information, void *context) {
  (void)number;
  int error = errno;
  unsigned question = (unsigned)information->si_value.sival_int;
  /* A late request is not answered: the text belongs to another request now. */
  if (atomic_load(&wanted) == question) {
    atomic_store(&answer_length, taskhost_stack_text(answer_text, sizeof answer_text, context, 1));
    atomic_store(&answered, question);
    sem_post(&answer);
  }
  errno = error;
}

static void prepare(void) {
  sem_init(&answer, 0, 0);
  void *frame[1];
  /* The first call loads libgcc's unwinder. */
  backtrace(frame, 1);
  struct sigaction action = {.sa_sigaction = on_question, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(TASKHOST_CRASH_STACK_SIGNAL, &action, NULL);
}

void taskhost_stack_prime(void) { pthread_once(&stack_once, prepare); }

static int ask(int thread_number, unsigned question) {
  siginfo_t information;
  memset(&information, 0, sizeof information);
  information.si_signo = TASKHOST_CRASH_STACK_SIGNAL;
  information.si_code = SI_QUEUE;
  information.si_pid = getpid();
  information.si_uid = getuid();
  information.si_value.sival_int = (int)question;
  return (int)syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_number, information.si_signo, &information);
}

static int await(unsigned question, int milliseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += milliseconds / 1000;
  deadline.tv_nsec += milliseconds % 1000 * 1000000L;
  if (deadline.tv_nsec >= 1000000000L) {
    deadline.tv_sec++;
    deadline.tv_nsec -= 1000000000L;
  }
  while (atomic_load(&answered) != question) {
    if (sem_clockwait(&answer, CLOCK_MONOTONIC, &deadline) != 0 && errno != EINTR) return -1;
  }
  return 0;
}

/* The unwinder finds no caller where a function returns that has no table for that place, such as many of Swift's library. */
#define TRIES 8

static int question_thread(int thread_number, int milliseconds) {
  unsigned question = atomic_fetch_add(&wanted, 1) + 1;
  int status = ask(thread_number, question);
  if (status == 0) status = await(question, milliseconds);
  /* An answer that is still being written must not count for the next request. */
  if (status != 0) atomic_fetch_add(&wanted, 1);
  return status == 0 ? 0 : -1;
}

int taskhost_crash_stack_of(int thread_number, char *buffer, size_t capacity, size_t *length, int milliseconds) {
  taskhost_stack_prime();
  int status = -1;
  pthread_mutex_lock(&one_caller);
  for (int tried = 0; tried < TRIES && question_thread(thread_number, milliseconds) == 0; tried++) {
    status = 0;
    size_t count = atomic_load(&answer_length);
    *length = count < capacity ? count : capacity;
    memcpy(buffer, answer_text, *length);
    const char *end = memchr(buffer, '\n', *length);
    if (end && end + 1 < buffer + *length) break;
  }
  pthread_mutex_unlock(&one_caller);
  return status;
}
