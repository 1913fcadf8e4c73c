/* answer.c - a persistent command that does nothing: it answers each run with success. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static char line[1 << 20];
  while (fgets(line, sizeof line, stdin) != NULL) {
    const char *run = strstr(line, "\"run\":");
    if (strstr(line, "\"type\":\"run\"") == NULL || run == NULL) continue;
    printf("{\"type\":\"result\",\"run\":%lld,\"result\":\"success\"}\n", strtoll(run + 6, NULL, 10));
    fflush(stdout);
  }
  return 0;
}
