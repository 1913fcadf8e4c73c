#define _GNU_SOURCE
#include "taskhost_check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

uint64_t taskhost_check_memory_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

int taskhost_check_may_execute(const char *path) {
  struct statvfs system;
  return statvfs(path, &system) != 0 || (system.f_flag & ST_NOEXEC) == 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
  (void)info;
  (void)kind;
  (void)place;
  remove(path);
  return 0;
}

void taskhost_check_remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { COUNT = sizeof numbers / sizeof *numbers };
static struct sigaction before[COUNT];
static int caught = -1;

static void catch_signal(int number) {
  int error = errno;
  unsigned char byte = (unsigned char)number;
  ssize_t written = write(caught, &byte, 1);
  (void)written;
  errno = error;
}

int taskhost_check_catch_signals(void) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  caught = ends[1];
  struct sigaction action = {.sa_handler = catch_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int index = 0; index < COUNT; index++) sigaction(numbers[index], &action, &before[index]);
  return ends[0];
}

void taskhost_check_release_signals(void) {
  for (int index = 0; index < COUNT; index++) sigaction(numbers[index], &before[index], NULL);
  close(caught);
  caught = -1;
}
