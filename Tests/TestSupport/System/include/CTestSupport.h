#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

#include <spawn.h>

/// Has a child close every descriptor from `lowest` up. Not in Swift's Glibc module.
int test_close_from(posix_spawn_file_actions_t *actions, int lowest);

#endif
