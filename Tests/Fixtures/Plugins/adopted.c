/* A library that knows nothing of taskhost, to be adopted by a manifest. */
#include <stdint.h>
#include <stdlib.h>

int32_t subtract(int32_t left, int32_t right) { return left - right; }

const char *greet(const char *name) {
  static _Thread_local char text[64];
  char *end = text;
  for (const char *part = "hello "; *part;) *end++ = *part++;
  while (name && *name && end < text + sizeof text - 1) *end++ = *name++;
  *end = 0;
  return text;
}

void leave(void) { exit(3); }

const int32_t answer = 42;
