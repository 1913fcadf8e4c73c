/*
 * Plugins whose launch goes wrong, one for each -DFAULT_…; without any it is a plugin that registers and succeeds.
 *
 * -DIDENTIFIER="…" as in script.c. -DFAULT_CONSTRUCTOR=… names what a constructor does before anything is called; -DFAULT_IN_LAUNCH=…
 * the same in the launch function.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "taskhost.h"

#ifndef IDENTIFIER
#define IDENTIFIER "test.faulty"
#endif

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}

/* MARK: before anything is called */

static volatile int *volatile nowhere = (volatile int *)8;

static void __attribute__((unused)) crashes(void) { *nowhere = 1; }

static void __attribute__((unused)) aborts(void) { abort(); }

static void __attribute__((unused)) sleeps(void) {
  for (;;) pause();
}

static void __attribute__((unused)) exits(void) { exit(0); }

static void __attribute__((unused)) underscore_exits(void) { _exit(0); }

static void __attribute__((unused)) forks(void) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  }
}

static void __attribute__((unused)) prints(void) {
  static char line[1024];
  memset(line, 'z', sizeof line - 1);
  line[sizeof line - 1] = '\n';
  for (int count = 0; count < 5 << 10; count++)
    if (write(STDOUT_FILENO, line, sizeof line) < 0 || write(STDERR_FILENO, line, sizeof line) < 0) return;
}

static void __attribute__((unused)) kills(void) {
  kill(getppid(), SIGKILL);
  syscall(SYS_tgkill, getppid(), getppid(), SIGKILL);
}

/* The version byte of the worker's link (LinkFormat.version). */
#ifndef LINK_VERSION
#define LINK_VERSION 17
#endif

static size_t __attribute__((unused)) put(uint8_t *bytes, size_t at, const void *value, size_t size) {
  memcpy(bytes + at, value, size);
  return at + size;
}

/*
 * Says on its worker's link that it has launched, and that it submitted a request whose earliest begin is the first moment of 64 bits: a
 * message as taskhost-worker writes it.
 */
static void __attribute__((unused)) forges(void) {
  static uint8_t bytes[512];
  const uint8_t head[] = {0x54, LINK_VERSION, 66}, no = 0, yes = 1, processing = 2, submit = 1, none = 1;
  const uint8_t name_length = sizeof IDENTIFIER - 1;
  const uint32_t nothing = 0, one = 1;
  const int64_t runs = 1, zero = 0, first_moment = INT64_MIN;
  size_t end = put(bytes, 0, head, sizeof head);
  end = put(bytes, end, &one, 4); /* registrations */
  end = put(bytes, end, &name_length, 1);
  end = put(bytes, end, IDENTIFIER, name_length);
  end = put(bytes, end, &processing, 1);
  end = put(bytes, end, &no, 1); /* budget */
  end = put(bytes, end, &runs, 8);
  for (int count = 0; count < 3; count++) end = put(bytes, end, &no, 1); /* display name, version, typed contract */
  end = put(bytes, end, &one, 4);                                          /* changes */
  end = put(bytes, end, &submit, 1);
  end = put(bytes, end, &name_length, 1);
  end = put(bytes, end, IDENTIFIER, name_length);
  end = put(bytes, end, &nothing, 4); /* payload */
  end = put(bytes, end, &yes, 1);     /* earliest begin */
  end = put(bytes, end, &first_moment, 8);
  end = put(bytes, end, &no, 1);                                         /* paced */
  end = put(bytes, end, &nothing, 4);                                    /* conditions */
  end = put(bytes, end, &no, 1);                                         /* unique key */
  end = put(bytes, end, &none, 1);                                       /* on conflict */
  for (int count = 0; count < 2; count++) end = put(bytes, end, &no, 1); /* deadline, delay */
  for (int count = 0; count < 2; count++) end = put(bytes, end, &zero, 8); /* flex, jitter */
  for (int count = 0; count < 3; count++) end = put(bytes, end, &no, 1); /* repetition, event, wake */
  end = put(bytes, end, &zero, 8);                                       /* priority */
  for (int count = 0; count < 2; count++) end = put(bytes, end, &no, 1); /* retry, loss policy */
  for (int count = 0; count < 3; count++) end = put(bytes, end, &nothing, 4); /* predecessors, tags, resources */
  /* window, concurrency key, preference, idempotency key, unique window, traceparent */
  for (int count = 0; count < 6; count++) end = put(bytes, end, &no, 1);
  for (int count = 0; count < 2; count++) end = put(bytes, end, &no, 1); /* shutdown hook, asked too early */
  for (int descriptor = 3; descriptor < 64; descriptor++) {
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET)
      send(descriptor, bytes, end, MSG_NOSIGNAL);
  }
}

#ifdef FAULT_CONSTRUCTOR
static void __attribute__((constructor)) construct(void) { FAULT_CONSTRUCTOR(); }
#endif

/* MARK: what is exported */

#ifdef FAULT_ABI
TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = FAULT_ABI;
#elif !defined(FAULT_NO_ABI)
TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
#endif

#ifdef FAULT_NOTE
/* FAULT_NOTE: assembler directives for the note's descriptor. */
#ifndef NOTE_ALIGNMENT
#define NOTE_ALIGNMENT "4"
#endif
__asm__(".pushsection .note.taskhost,\"a\",@note\n.balign " NOTE_ALIGNMENT "\n.long 2f-1f\n.long 4f-3f\n.long 0x54480001\n"
        "1: .asciz \"taskhost\"\n2: .balign 4\n3: " FAULT_NOTE "\n4: .balign 4\n.popsection");
#endif

#ifdef FAULT_UNRESOLVED
extern int there_is_no_such_function_anywhere(void);
#endif

#ifdef FAULT_DEPENDENCY
extern int dependency(void);
#endif

#ifdef FAULT_ENTRY_IS_DATA
TASKHOST_EXPORT const uint32_t entry_that_is_data[4] __asm__("taskhost_plugin_launch") = {1, 2, 3, 4};
#elif !defined(FAULT_NO_ENTRY)
TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  taskhost_registration registration = {
    .struct_size = sizeof registration, .kind = TASKHOST_REFRESH, .identifier = IDENTIFIER, .handler = handle};
#ifdef FAULT_UNRESOLVED
  if (there_is_no_such_function_anywhere()) return TASKHOST_EINTERNAL;
#endif
#ifdef FAULT_DEPENDENCY
  if (dependency() != 1) return TASKHOST_EINTERNAL;
#endif
#ifdef FAULT_IN_LAUNCH
  FAULT_IN_LAUNCH();
#endif
#ifdef FAULT_RETURNS_ERROR
  api->register_handler(launch, &registration);
  return TASKHOST_EUNAVAILABLE;
#endif
#ifdef FAULT_HANGS
  api->launch_log(launch, TASKHOST_NOTICE, "this launch never returns");
  for (;;) pause();
#endif
#ifdef FAULT_REGISTERS_NOTHING
  return TASKHOST_OK;
#endif
#ifdef FAULT_REGISTERS_TWICE
  api->register_handler(launch, &registration);
  registration.identifier = IDENTIFIER ".second";
#endif
#ifdef FAULT_NULL_IDENTIFIER
  registration.identifier = NULL;
#endif
#ifdef FAULT_LONG_IDENTIFIER
  char identifier[130];
  memset(identifier, 'a', sizeof identifier);
  identifier[sizeof identifier - 1] = 0;
  registration.identifier = identifier;
#endif
#ifdef FAULT_NULL_HANDLER
  registration.handler = NULL;
#endif
#ifdef FAULT_STRUCT_SIZE
  registration.struct_size = FAULT_STRUCT_SIZE;
#endif
#ifdef FAULT_KIND
  registration.kind = FAULT_KIND;
#endif
#ifdef FAULT_RESERVED
  registration.reserved = 1;
#endif
#ifdef FAULT_SIGNATURE
  registration.handler = NULL;
  registration.signature = FAULT_SIGNATURE;
  registration.function = (void (*)(void))handle;
#endif
#ifdef FAULT_LARGER_STRUCT
  /* A later header's registration, whose new field is used. */
  struct {
    taskhost_registration known;
    uint64_t later;
  } larger = {.known = registration, .later = FAULT_LARGER_STRUCT};
  larger.known.struct_size = sizeof larger;
  return api->register_handler(launch, &larger.known);
#else
  return api->register_handler(launch, &registration);
#endif
}
#endif

#ifdef FAULT_EXECUTABLE
int main(void) { return 0; }
#endif
