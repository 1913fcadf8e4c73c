/* Runs a program under the system call filters that systemd makes of taskhost.service, where no systemd runs.
 *
 * usage: confine FILE PROGRAM [ARGUMENT...]
 *
 * FILE has the names of SystemCallFilter=, without groups. The other filters are those of systemd 252's src/shared/seccomp-util.c for
 * RestrictNamespaces=yes, RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK, RestrictRealtime=yes and LockPersonality=yes. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void check(const char *what, int result) {
  if (result >= 0) return;
  fprintf(stderr, "confine: %s: %s\n", what, strerror(-result));
  exit(1);
}

static scmp_filter_ctx allowing(void) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (!filter) check("seccomp_init", -ENOMEM);
  return filter;
}

static void load(const char *what, scmp_filter_ctx filter) {
  check(what, seccomp_load(filter));
  seccomp_release(filter);
}

static void refuse(scmp_filter_ctx filter, int call, struct scmp_arg_cmp test) {
  check("a rule", seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &test));
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  FILE *names = fopen(arguments[1], "r");
  if (!names) check(arguments[1], -errno);
  scmp_filter_ctx calls = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!calls) check("seccomp_init", -ENOMEM);
  char name[128];
  while (fscanf(names, "%127s", name) == 1) {
    int call = seccomp_syscall_resolve_name(name);
    if (call >= 0) check(name, seccomp_rule_add(calls, SCMP_ACT_ALLOW, call, 0));
  }
  fclose(names);
  check("PR_SET_NO_NEW_PRIVS", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0);

  scmp_filter_ctx namespaces = allowing();
  static const unsigned long kinds[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
  for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
    refuse(namespaces, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, kinds[index], kinds[index]));
    refuse(namespaces, SCMP_SYS(unshare), SCMP_A0(SCMP_CMP_MASKED_EQ, kinds[index], kinds[index]));
  }
  check("clone3", seccomp_rule_add(namespaces, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0));
  check("setns", seccomp_rule_add(namespaces, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setns), 0));
  load("RestrictNamespaces", namespaces);

  scmp_filter_ctx families = allowing();
  for (int family = 0; family < 64; family++) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    struct scmp_arg_cmp test = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family);
    check("a family", seccomp_rule_add_array(families, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, &test));
  }
  load("RestrictAddressFamilies", families);

  scmp_filter_ctx realtime = allowing();
  static const int policies[] = {SCHED_FIFO, SCHED_RR, 6 /* SCHED_DEADLINE */};
  for (int index = 0; index < 3; index++) refuse(realtime, SCMP_SYS(sched_setscheduler), SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)policies[index]));
  load("RestrictRealtime", realtime);

  scmp_filter_ctx persons = allowing();
  refuse(persons, SCMP_SYS(personality), SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)personality(0xffffffff)));
  load("LockPersonality", persons);

  load("SystemCallFilter", calls);
  execvp(arguments[2], arguments + 2);
  check(arguments[2], -errno);
}
