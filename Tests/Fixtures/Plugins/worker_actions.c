/*
 * Does what the second text of its payload says, behind the path of its probe: what a worker process must survive, or must not.
 *
 * While it launches it does what the file says that LAUNCH_FILE in its environment names, if there is one.
 * values: 0 its process, 1 a process that it started
 */
#include "runtime_fixture.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

static void launch_as_told(taskhost_registration *registration) {
  char text[32] = "";
  const char *path = getenv("LAUNCH_FILE");
  int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (descriptor < 0) return;
  ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (length < 0) return;
  if (!strcmp(text, "crash")) *(volatile int *)8 = 1;
  if (!strcmp(text, "exit")) exit(3);
  if (!strcmp(text, "_exit")) _exit(4);
  if (!strcmp(text, "stop")) raise(SIGSTOP);
  while (!strcmp(text, "hang")) pause();
  if (!strcmp(text, "print")) printf("whole at launch\nhalf at launch");
  if (!strcmp(text, "other")) registration->display_name = "something else";
}

static void write_all(const char *bytes, size_t length) {
  while (length) {
    ssize_t count = write(STDOUT_FILENO, bytes, length);
    if (count > 0) {
      bytes += count;
      length -= (size_t)count;
    }
  }
}

static taskhost_result start_process(taskhost_task task, runtime_probe *probe) {
  extern char **environ;
  pid_t process = 0;
  char *arguments[] = {"sleep", "120", NULL};
  int code = posix_spawn(&process, "/bin/sleep", NULL, NULL, arguments, environ);
  if (code) return fail(task, __LINE__, strerror(code));
  probe->values[1] = process;
  return TASKHOST_SUCCESS;
}

/* As libraries do that start a program which is not there. */
static taskhost_result fork_in_vain(taskhost_task task) {
  pid_t child = fork();
  if (child < 0) return fail(task, __LINE__, strerror(errno));
  if (child == 0) {
    execl("/nowhere", "nowhere", (char *)NULL);
    _exit(127);
  }
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
  return TASKHOST_SUCCESS;
}

static taskhost_result hold(runtime_probe *probe) {
  sem_post(&probe->reached);
  await(&probe->release);
  return TASKHOST_SUCCESS;
}

static char block[1 << 16];

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes = NULL;
  size_t length = 0;
  runtime_probe *probe = probe_of(task);
  if (!probe || api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  const char *action = (const char *)bytes + strlen((const char *)bytes) + 1;
  probe->values[0] = getpid();
  if (!strcmp(action, "pid")) return TASKHOST_SUCCESS;
  if (!strcmp(action, "hold")) return hold(probe);
  if (!strcmp(action, "spawn")) return start_process(task, probe);
  if (!strcmp(action, "fork")) return fork_in_vain(task);
  if (!strcmp(action, "spawn+hold")) {
    taskhost_result result = start_process(task, probe);
    return result == TASKHOST_SUCCESS ? hold(probe) : result;
  }
  if (!strncmp(action, "print", 5)) {
    printf("a whole line\nhalf a line");
    if (!strcmp(action, "print")) return TASKHOST_SUCCESS;
    if (!strcmp(action, "print+exit")) exit(7);
    *(volatile int *)8 = 1;
  }
  if (!strcmp(action, "crash")) *(volatile int *)8 = 1;
  if (!strcmp(action, "exit")) exit(7);
  if (!strcmp(action, "_exit")) _exit(8);
  if (!strcmp(action, "killed")) raise(SIGKILL);
  if (!strcmp(action, "stop")) {
    sem_post(&probe->reached);
    raise(SIGSTOP);
  }
  if (!strcmp(action, "lines"))
    for (int line = 0; line < 5000; line++) dprintf(STDOUT_FILENO, "line %d\n", line);
  if (!strcmp(action, "errors")) dprintf(STDERR_FILENO, "first\nse\x1b[31mcond\nno end");
  memset(block, 'x', sizeof block);
  if (!strcmp(action, "flood"))
    for (int count = 0; count < 160; count++) write_all(block, sizeof block);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  taskhost_registration registration = {.struct_size = sizeof registration, .kind = KIND, .identifier = "test.worker.actions",
    .handler = handle, .max_concurrent_runs = MAX_RUNS};
  launch_as_told(&registration);
  return api->register_handler(launch, &registration);
}
