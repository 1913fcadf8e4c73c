#ifndef TASKHOST_STACK_TEXT_H
#define TASKHOST_STACK_TEXT_H

#include <stddef.h>

/* Loads what reading a stack needs, because a signal handler must not load it. */
void taskhost_stack_prime(void);

/* Writes the calling thread's stack, one line for each frame: from the interrupted frame if `context` is a signal handler's, otherwise
 * without the innermost `skip` frames. Returns the length. Does not allocate. */
size_t taskhost_stack_text(char *buffer, size_t capacity, const void *context, int skip);

#endif
