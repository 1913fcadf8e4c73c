/*
 * Runs that do not end when they are told to, and expiration handlers that misbehave. Faults 51 to 54, 73, 77.
 *
 *   busy               a loop that looks at nothing
 *   read, mutex        blocked in a system call, in a mutex that is never given back
 *   own-sleep          sleeps with the system's sleep, an hour
 *   sleep              sleeps with the host's sleep, an hour; says what it was told and when
 *   handler-hangs      an expiration handler that never returns; the run itself ends when it is told
 *   handler-crashes    one that faults
 *   handler-late GATE  one that waits at a gate and calls the host after the run has ended
 *   handler-sets       one that sets itself again, and clears itself from inside
 *   handler-calls      one that calls everything
 *   set-at-expiry      sets a handler at the very moment of expiry: either it is called, or EEXPIRED told
 */
#include "faulty_run.h"

#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <time.h>

static void busy(fault_run *run, const char *argument) {
  (void)argument;
  for (volatile uint64_t count = 0; count < UINT64_MAX; count++) {}
  run->result = TASKHOST_FAILURE;
}

static void read_for_ever(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return;
  for (;;)
    if (read(ends[0], &byte, 1) >= 0) return;
}

static void lock_for_ever(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
}

static void own_sleep(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  struct timespec left = {.tv_sec = 3600};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

static void host_sleep(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "sleep", "%d", api->sleep(run->task, 3600000));
  fact(run, "again", "%d", api->sleep(run->task, 3600000));
  fact(run, "remaining", "%" PRId64, api->remaining_ms(run->task));
}

static void wait_expired(fault_run *run) {
  struct pollfd descriptor = {.fd = api->expiration_fd(run->task), .events = POLLIN};
  while (poll(&descriptor, 1, -1) < 0 && errno == EINTR) {}
}

static sem_t handler_has_come;

static void hang(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task, (void)reason, (void)context;
  sem_post(&handler_has_come);
  for (;;) pause();
}

static void handler_hangs(fault_run *run, const char *argument) {
  (void)argument;
  sem_init(&handler_has_come, 0, 0);
  fact(run, "set", "%d", api->set_expiration_handler(run->task, hang, NULL));
  while (sem_wait(&handler_has_come) != 0) {}
  fact(run, "called", "1");
}

static volatile int *volatile nowhere = (volatile int *)8;

static void crash(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task, (void)reason, (void)context;
  *nowhere = 1;
}

static void handler_crashes(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "set", "%d", api->set_expiration_handler(run->task, crash, NULL));
  for (;;) pause();
}

typedef struct {
  char gate[256], answer[256];
} late_call;

static void call_late(taskhost_task task, taskhost_stop_reason reason, void *context) {
  late_call *self = context;
  sem_post(&handler_has_come);
  pass_gate(self->gate);
  int answer = open(self->answer, O_WRONLY | O_CLOEXEC);
  if (answer < 0) return;
  dprintf(answer, "{\"reason\":%d,\"log\":%d,\"output\":%d,\"state\":%d,\"is_expired\":%d}", reason,
          api->log(task, TASKHOST_INFO, "late"), api->set_output(task, "late", 4), api->state_set(task, "late", "1", 1),
          api->is_expired(task));
  close(answer);
}

static void handler_late(fault_run *run, const char *argument) {
  static late_call call;
  sscanf(argument, "%255s %255s", call.gate, call.answer);
  sem_init(&handler_has_come, 0, 0);
  fact(run, "set", "%d", api->set_expiration_handler(run->task, call_late, &call));
  while (sem_wait(&handler_has_come) != 0) {}
}

typedef struct {
  taskhost_status again, cleared;
  int calls;
  sem_t done;
} set_call;

static void set_again(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)reason;
  set_call *self = context;
  self->calls++;
  self->again = api->set_expiration_handler(task, set_again, context);
  self->cleared = api->set_expiration_handler(task, NULL, NULL);
  sem_post(&self->done);
}

static void handler_sets(fault_run *run, const char *argument) {
  (void)argument;
  set_call self = {0};
  sem_init(&self.done, 0, 0);
  fact(run, "set", "%d", api->set_expiration_handler(run->task, set_again, &self));
  while (sem_wait(&self.done) != 0) {}
  fact(run, "again", "%d", self.again);
  fact(run, "cleared_inside", "%d", self.cleared);
  fact(run, "cleared", "%d", api->set_expiration_handler(run->task, NULL, NULL));
  fact(run, "calls", "%d", self.calls);
}

typedef struct {
  fault_run *run;
  sem_t done;
} every_call;

static void call_all(taskhost_task task, taskhost_stop_reason reason, void *context) {
  every_call *self = context;
  const void *bytes;
  size_t length;
  char buffer[16];
  taskhost_request request = {.struct_size = sizeof request, .identifier = IDENTIFIER, .payload = "\"facts\"", .payload_length = 7};
  fact(self->run, "reason", "%d", reason);
  fact(self->run, "payload", "%d", api->payload(task, &bytes, &length));
  fact(self->run, "identifier", "\"%s\"", api->identifier(task));
  fact(self->run, "attempt", "%u", api->attempt(task));
  fact(self->run, "remaining", "%" PRId64, api->remaining_ms(task));
  fact(self->run, "grace", "%" PRId64, api->grace_ms(task));
  fact(self->run, "is_expired", "%d", api->is_expired(task));
  fact(self->run, "progress", "%d", api->progress(task, 1, 2));
  fact(self->run, "log", "%d", api->log(task, TASKHOST_INFO, "from the expiration handler"));
  fact(self->run, "message", "%d", api->set_message(task, "told"));
  fact(self->run, "retry_after", "%d", api->retry_after(task, 1));
  fact(self->run, "sleep", "%d", api->sleep(task, 3600000));
  fact(self->run, "state_set", "%d", api->state_set(task, "expired", "yes", 3));
  fact(self->run, "state_get", "%d", api->state_get(task, "expired", buffer, sizeof buffer, &length));
  fact(self->run, "checkpoint_set", "%d", api->checkpoint_set(task, "here", 4));
  fact(self->run, "checkpoint_get", "%d", api->checkpoint_get(task, buffer, sizeof buffer, &length));
  fact(self->run, "submit", "%d", api->submit(task, &request, NULL));
  fact(self->run, "cancel", "%d", api->cancel(task, "01976c1e-0000-7000-8000-000000000000"));
  sem_post(&self->done);
}

static void handler_calls(fault_run *run, const char *argument) {
  (void)argument;
  every_call self = {.run = run};
  sem_init(&self.done, 0, 0);
  api->set_expiration_handler(run->task, call_all, &self);
  while (sem_wait(&self.done) != 0) {}
  api->set_expiration_handler(run->task, NULL, NULL);
}

static void count_call(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task, (void)reason;
  __atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
}

static void set_at_expiry(fault_run *run, const char *argument) {
  (void)argument;
  int calls = 0;
  while (api->remaining_ms(run->task) > 1) {
    int64_t left = api->remaining_ms(run->task);
    if (left > 3) usleep((useconds_t)(left - 3) * 1000);
  }
  /* The last millisecond is left to chance: a different part of it each time. */
  for (volatile unsigned spin = (unsigned)(uintptr_t)run % 4096 * (api->attempt(run->task) + (unsigned)run->task % 97); spin > 0; spin--) {}
  taskhost_status set = api->set_expiration_handler(run->task, count_call, &calls);
  wait_expired(run);
  taskhost_status cleared = api->set_expiration_handler(run->task, NULL, NULL);
  fact(run, "set", "%d", set);
  fact(run, "cleared", "%d", cleared);
  fact(run, "calls", "%d", calls);
}

static const fault_step fault_steps[] = {
  {"busy", busy},
  {"read", read_for_ever},
  {"mutex", lock_for_ever},
  {"own-sleep", own_sleep},
  {"sleep", host_sleep},
  {"handler-hangs", handler_hangs},
  {"handler-crashes", handler_crashes},
  {"handler-late", handler_late},
  {"handler-sets", handler_sets},
  {"handler-calls", handler_calls},
  {"set-at-expiry", set_at_expiry},
  {NULL, NULL},
};
