#define _GNU_SOURCE
#include "CTestSupport.h"

#include <spawn.h>

int test_close_from(void *actions, int lowest) {
  return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}
