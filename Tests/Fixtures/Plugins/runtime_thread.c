/*
 * Tells what thread it runs on. -DLABEL names another plugin of the kind.
 * values: 0 the thread, 1 its stack's bytes, 2 asynchronous signals that are not blocked, 3 fault signals that are blocked; text: its name
 */
#include "runtime_fixture.h"

#ifndef LABEL
#define LABEL "thread-with-a-long-label"
#endif

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  pthread_attr_t attributes;
  size_t size = 0;
  sigset_t blocked;
  probe->values[0] = gettid();
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  probe->values[1] = (int64_t)size;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  const int asynchronous[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH};
  for (size_t index = 0; index < sizeof asynchronous / sizeof *asynchronous; index++)
    probe->values[2] += !sigismember(&blocked, asynchronous[index]);
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) probe->values[3] += sigismember(&blocked, faults[index]);
  pthread_getname_np(pthread_self(), probe->text, sizeof probe->text);
  sem_post(&probe->reached);
  await(&probe->release);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN(LABEL, handle)
