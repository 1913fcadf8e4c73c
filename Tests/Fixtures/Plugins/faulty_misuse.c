/*
 * Runs that misuse what the host and the process give them. Faults 56, 58, 59, 62 to 66, 71, 74.
 *
 *   handle             the run's own handle, as output
 *   use HANDLE         calls the host with another's handle
 *   read-later G A     a thread that reads the payload once gate G has passed, long after the run, and writes its first bytes to A
 *   write-payload      overwrites the payload
 *   close-all          closes every descriptor
 *   surroundings       changes working directory, mask, locale, environment, credentials and signal mask
 *   signals            installs handlers for SIGSEGV and SIGCHLD that swallow them, ignores SIGPIPE and SIGTERM
 *   auto-reap          ignores SIGCHLD, so that the system reaps this process's children
 *   reap GATE          reaps every child of this process until the gate passes
 *   daemon FIFO        double-forks a process that holds the FIFO open for writing for ever
 *   exec FIFO          the same with a program
 *   cancel-itself      cancels its own request and waits to be told
 *   link KIND          writes to every socket of sequenced packets: garbage, empty, half, oversized, flood, replay (its own messages
 *                      back), steal (reads what is meant for the worker), shut (shuts it down)
 */
#include "faulty_run.h"

#include <locale.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void handle_number(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "handle", "\"%" PRIu64 "\"", run->task);
}

static void use(fault_run *run, const char *argument) {
  taskhost_task other = strtoull(argument, NULL, 10);
  const void *bytes;
  size_t length;
  fact(run, "payload", "%d", api->payload(other, &bytes, &length));
  fact(run, "identifier", "\"%s\"", api->identifier(other));
  fact(run, "log", "%d", api->log(other, TASKHOST_INFO, "with a foreign handle"));
  fact(run, "output", "%d", api->set_output(other, "foreign", 7));
  fact(run, "state", "%d", api->state_set(other, "foreign", "1", 1));
}

typedef struct {
  const char *bytes;
  size_t length;
  char gate[256], answer[256];
} later_read;

static void *read_later(void *context) {
  later_read *self = context;
  pass_gate(self->gate);
  volatile unsigned sum = 0;
  for (size_t index = 0; index < self->length; index++) sum += (unsigned char)self->bytes[index];
  int answer = open(self->answer, O_WRONLY | O_CLOEXEC);
  if (answer >= 0) {
    dprintf(answer, "{\"sum\":%u}", sum);
    close(answer);
  }
  free(self);
  return NULL;
}

static void start_read_later(fault_run *run, const char *argument) {
  later_read *self = calloc(1, sizeof *self);
  const void *bytes;
  if (!self || api->payload(run->task, &bytes, &self->length) != TASKHOST_OK) return;
  self->bytes = bytes;
  sscanf(argument, "%255s %255s", self->gate, self->answer);
  pthread_t thread;
  if (pthread_create(&thread, NULL, read_later, self) == 0) pthread_detach(thread);
}

static void write_payload(fault_run *run, const char *argument) {
  (void)argument;
  const void *bytes;
  size_t length;
  if (api->payload(run->task, &bytes, &length) != TASKHOST_OK) return;
  /* The byte behind the end is part of what the host gave, too. */
  memset((void *)bytes, '!', length + 1);
  fact(run, "written", "%zu", length);
}

static void close_all(fault_run *run, const char *argument) {
  (void)run, (void)argument;
  for (int descriptor = 0; descriptor < 4096; descriptor++) close(descriptor);
}

static void surroundings(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "chdir", "%d", chdir("/usr"));
  umask(0777);
  fact(run, "setlocale", "%d", setlocale(LC_ALL, "C.UTF-8") != NULL);
  setenv("PATH", "/nowhere", 1);
  setenv("TZ", "Asia/Kathmandu", 1);
  setenv("HOME", "/nowhere", 1);
  unsetenv("TASKHOST_SOCKET");
  sigset_t all;
  sigfillset(&all);
  fact(run, "sigmask", "%d", pthread_sigmask(SIG_BLOCK, &all, NULL));
#ifdef CREDENTIALS
  fact(run, "setgid", "%d", setgid(12345));
  fact(run, "setuid", "%d", setuid(12345));
#endif
}

static void swallow(int number) { (void)number; }

static void signals(fault_run *run, const char *argument) {
  (void)argument;
  struct sigaction action = {.sa_handler = swallow};
  fact(run, "segv", "%d", sigaction(SIGSEGV, &action, NULL));
  fact(run, "abrt", "%d", sigaction(SIGABRT, &action, NULL));
  fact(run, "chld", "%d", sigaction(SIGCHLD, &action, NULL));
  fact(run, "pipe", "%d", signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

static void auto_reap(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "ignored", "%d", signal(SIGCHLD, SIG_IGN) != SIG_ERR);
}

/* Waits for children in a thread of its own, since the gate is waited for here. */
static void *reap(void *context) {
  int *count = context;
  for (;;) {
    if (waitpid(-1, NULL, __WALL) > 0) __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    else if (errno == ECHILD) usleep(1000); /* there are none now; some may come */
  }
  return NULL;
}

static void reap_all(fault_run *run, const char *argument) {
  int *count = calloc(1, sizeof *count); /* the thread stays */
  pthread_t thread;
  if (!count || pthread_create(&thread, NULL, reap, count) != 0) return;
  pthread_detach(thread);
  pass_gate(argument);
  fact(run, "reaped", "%d", __atomic_load_n(count, __ATOMIC_SEQ_CST));
}

/* What the parent's children have to say goes through a pipe: errno of the fork that failed, or 0. */
static void spawn(fault_run *run, const char *fifo, int with_program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t child = fork();
  if (child < 0) {
    fact(run, "fork", "%d", errno);
    close(ends[0]), close(ends[1]);
    return;
  }
  if (child == 0) {
    int left = setsid() < 0 ? errno : 0;
    pid_t grandchild = fork();
    if (grandchild == 0) {
      /* Heeds no polite signal, and is there as long as the FIFO's reader does not see the end. */
      signal(SIGTERM, SIG_IGN);
      signal(SIGHUP, SIG_IGN);
      int held = open(fifo, O_WRONLY);
      if (write(ends[1], &left, sizeof left) < 0) _Exit(1);
      if (with_program && held >= 0) execl("/bin/sleep", "sleep", "86400", (char *)NULL);
      for (;;) pause();
    }
    if (grandchild < 0) {
      left = -errno;
      if (write(ends[1], &left, sizeof left) < 0) syscall(SYS_exit_group, 1);
    }
    syscall(SYS_exit_group, 0); /* past whoever watches exit */
  }
  close(ends[1]);
  int told = 0;
  fact(run, "fork", "0");
  if (read(ends[0], &told, sizeof told) == sizeof told) fact(run, "setsid", "%d", told);
  close(ends[0]);
}

static void start_daemon(fault_run *run, const char *argument) { spawn(run, argument, 0); }

static void start_program(fault_run *run, const char *argument) { spawn(run, argument, 1); }

static void cancel_itself(fault_run *run, const char *argument) {
  (void)argument;
  fact(run, "cancel", "%d", api->cancel(run->task, api->request_id(run->task)));
  struct pollfd descriptor = {.fd = api->expiration_fd(run->task), .events = POLLIN};
  while (poll(&descriptor, 1, -1) < 0 && errno == EINTR) {}
  fact(run, "stop_reason", "%d", api->stop_reason(run->task));
  fact(run, "again", "%d", api->cancel(run->task, api->request_id(run->task)));
}

static void attack(int link, const char *kind) {
  static char bytes[1 << 17];
  if (strcmp(kind, "garbage") == 0) {
    for (size_t index = 0; index < 4096; index++) bytes[index] = (char)(index * 167 + 13);
    send(link, bytes, 4096, MSG_NOSIGNAL);
  } else if (strcmp(kind, "empty") == 0) {
    send(link, bytes, 0, MSG_NOSIGNAL);
  } else if (strcmp(kind, "half") == 0) {
    /* The first bytes of anything: shorter than every header. */
    memset(bytes, 1, 3);
    send(link, bytes, 3, MSG_NOSIGNAL);
  } else if (strcmp(kind, "oversized") == 0) {
    memset(bytes, 1, sizeof bytes);
    send(link, bytes, sizeof bytes, MSG_NOSIGNAL);
  } else if (strcmp(kind, "flood") == 0) {
    for (int count = 0; count < 100000; count++) {
      bytes[0] = (char)count;
      if (send(link, bytes, 16, MSG_NOSIGNAL) < 0) return;
    }
  } else if (strcmp(kind, "steal") == 0) {
    /* What the host says to the worker never arrives there; and it is said back to the host. */
    struct pollfd descriptor = {.fd = link, .events = POLLIN};
    while (poll(&descriptor, 1, -1) >= 0) {
      ssize_t length = recv(link, bytes, sizeof bytes, MSG_DONTWAIT);
      if (length == 0) return;
      if (length > 0) send(link, bytes, (size_t)length, MSG_NOSIGNAL);
    }
  } else if (strcmp(kind, "shut") == 0) {
    shutdown(link, SHUT_RDWR);
  }
}

static void attack_link(fault_run *run, const char *argument) {
  int found = 0;
  for (int descriptor = 0; descriptor < 1024; descriptor++) {
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET) continue;
    found++;
    attack(descriptor, argument);
  }
  if (found == 0) {
    fact(run, "links", "0");
    return;
  }
  for (;;) pause();
}

static const fault_step fault_steps[] = {
  {"handle", handle_number},
  {"use", use},
  {"read-later", start_read_later},
  {"write-payload", write_payload},
  {"close-all", close_all},
  {"surroundings", surroundings},
  {"signals", signals},
  {"auto-reap", auto_reap},
  {"reap", reap_all},
  {"daemon", start_daemon},
  {"exec", start_program},
  {"cancel-itself", cancel_itself},
  {"link", attack_link},
  {NULL, NULL},
};
