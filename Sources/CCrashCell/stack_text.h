#ifndef TASKHOST_STACK_TEXT_H
#define TASKHOST_STACK_TEXT_H

#include <stddef.h>

/* Loads what reading a stack needs, because a signal handler must not load it. */
void taskhost_stack_prime(void);

/* Writes the calling thread's stack, a line a frame: from the frame that was interrupted, if `context` is a signal handler's, else without
 * the innermost `skip` frames. Returns the length. No allocation. */
size_t taskhost_stack_text(char *buffer, size_t capacity, const void *context, int skip);

#endif
