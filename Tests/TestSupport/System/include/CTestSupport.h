#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

/// Has a child close every descriptor from `lowest` up; `actions` is a `posix_spawn_file_actions_t`. Not in Swift's Glibc module.
int test_close_from(void *actions, int lowest);

#endif
