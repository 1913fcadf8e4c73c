/*
 * spawn COUNT PROGRAM - the raw limit of running a command: posix_spawn and waitpid, one after the other.
 *
 * Like the host, it gives the program a session of its own, an empty standard input, and pipes that it reads until they are closed. Prints
 * the nanoseconds that all of them took.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Runs the program once; returns whether it exited with 0. */
static int run(char *program) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return 0;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output[1], 1);
  posix_spawn_file_actions_adddup2(&files, output[1], 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  char *const arguments[] = {program, NULL}, *const environment[] = {"PATH=/usr/bin:/bin", NULL};
  pid_t process;
  const int status = posix_spawn(&process, program, &files, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(output[1]);
  int ending = -1;
  if (status == 0) {
    char bytes[4096];
    while (read(output[0], bytes, sizeof bytes) > 0) {}
    if (waitpid(process, &ending, 0) != process) ending = -1;
  }
  close(output[0]);
  return status == 0 && WIFEXITED(ending) && WEXITSTATUS(ending) == 0;
}

int main(int count, char **arguments) {
  const int times = count == 3 ? atoi(arguments[1]) : 0;
  if (times < 1) {
    fprintf(stderr, "usage: spawn COUNT PROGRAM\n");
    return 2;
  }
  const int64_t began = now();
  for (int index = 0; index < times; index++) {
    if (!run(arguments[2])) {
      fprintf(stderr, "spawn: %s did not run\n", arguments[2]);
      return 1;
    }
  }
  printf("%lld\n", (long long)(now() - began));
  return 0;
}
