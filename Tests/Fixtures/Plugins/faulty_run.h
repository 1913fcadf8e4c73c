/*
 * What the plugins of faults that happen in a run have in common. The payload is a JSON string of steps, one after the other,
 * divided by ';'. A file that includes this defines `fault_steps`, its own steps; these are there for all of them:
 *
 *   once FILE          makes the file; where it is there already, the run ends here with SUCCESS: a later attempt is well behaved
 *   gate FIFO          opens the FIFO for reading and waits until its other end is closed; heeds no expiration
 *   note FILE          appends "REQUEST ATTEMPT" to a file, with one write
 *   result N           the handler's result; without it SUCCESS
 *   facts              the process, its parent, working directory and file mode mask
 *
 * What the steps were told becomes the run's output, a JSON object.
 *
 * -DIDENTIFIER="…", -DMAX_RUNS=…
 */
#ifndef FAULTY_RUN_H
#define FAULTY_RUN_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "taskhost.h"

#ifndef IDENTIFIER
#define IDENTIFIER "test.fault"
#endif
#ifndef MAX_RUNS
#define MAX_RUNS 4
#endif

/* What one run knows. */
typedef struct {
  taskhost_task task;
  taskhost_result result;
  int is_over;
  char facts[8192];
  size_t length;
} fault_run;

/* A step: its name and what it does with the rest of its text. */
typedef struct {
  const char *name;
  void (*body)(fault_run *run, const char *argument);
} fault_step;

static const taskhost_api *api;
static taskhost_launch launch_handle;

/* The file's own steps; the last one has no name. */
static const fault_step fault_steps[];

static void __attribute__((unused)) fact(fault_run *run, const char *name, const char *format, ...) {
  char value[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  int written = snprintf(run->facts + run->length, sizeof run->facts - run->length, "%s\"%s\":%s", run->length ? "," : "", name, value);
  if (written > 0 && run->length + (size_t)written < sizeof run->facts) run->length += (size_t)written;
}

static void pass_gate(const char *path) {
  int gate = open(path, O_RDONLY | O_CLOEXEC);
  char byte;
  if (gate < 0) return;
  while (read(gate, &byte, 1) > 0) {}
  close(gate);
}

static void common_step(fault_run *run, const char *name, const char *argument) {
  if (strcmp(name, "once") == 0) {
    int file = open(argument, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) run->is_over = 1;
    else close(file);
  } else if (strcmp(name, "gate") == 0) {
    pass_gate(argument);
  } else if (strcmp(name, "note") == 0) {
    char line[128];
    int length = snprintf(line, sizeof line, "%s %u\n", api->request_id(run->task), api->attempt(run->task));
    int file = open(argument, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, (size_t)length) != length) run->result = TASKHOST_FAILURE;
    if (file >= 0) close(file);
  } else if (strcmp(name, "result") == 0) {
    run->result = (taskhost_result)atol(argument);
  } else if (strcmp(name, "facts") == 0) {
    char directory[1024] = "";
    mode_t mask = umask(0);
    umask(mask);
    fact(run, "process", "%d", (int)getpid());
    fact(run, "parent", "%d", (int)getppid());
    fact(run, "directory", "\"%s\"", getcwd(directory, sizeof directory) ? directory : "");
    fact(run, "umask", "%u", (unsigned)mask);
  } else {
    api->set_message(run->task, "the payload names a step that this plugin does not have");
    run->result = TASKHOST_FAILURE;
    run->is_over = 1;
  }
}

static void take_step(fault_run *run, char *text) {
  char *argument = strchr(text, ' ');
  if (argument) *argument++ = 0;
  else argument = text + strlen(text);
  for (const fault_step *step = fault_steps; step->name; step++) {
    if (strcmp(step->name, text) != 0) continue;
    step->body(run, argument);
    return;
  }
  common_step(run, text, argument);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  fault_run run = {.task = task, .result = TASKHOST_SUCCESS};
  const void *bytes = NULL;
  size_t length = 0;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  char *text = strndup(bytes, length);
  if (!text) return TASKHOST_RETRY;
  char *start = text, *rest = NULL;
  if (length >= 2 && text[0] == '"') {
    text[length - 1] = 0;
    start++;
  }
  for (char *next = strtok_r(start, ";", &rest); next && !run.is_over; next = strtok_r(NULL, ";", &rest)) take_step(&run, next);
  free(text);
  if (run.length) {
    char output[8300];
    int count = snprintf(output, sizeof output, "{%s}", run.facts);
    api->set_output(task, output, (size_t)count);
  }
  return run.result;
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  launch_handle = launch;
  taskhost_registration registration = {.struct_size = sizeof registration,
                                        .kind = TASKHOST_PROCESSING,
                                        .identifier = IDENTIFIER,
                                        .handler = handle,
                                        .max_concurrent_runs = MAX_RUNS};
#ifdef AT_LAUNCH
  AT_LAUNCH;
#endif
  return api->register_handler(launch, &registration);
}

#endif
