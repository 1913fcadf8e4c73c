#define _GNU_SOURCE
#include "taskhost_check.h"

#include <ftw.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/statvfs.h>

uint64_t taskhost_check_memory_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

int taskhost_check_begin_in(posix_spawn_file_actions_t *actions, const char *directory) {
  return posix_spawn_file_actions_addchdir_np(actions, directory);
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
