/*
 * beanstalk SOCKET put COUNT  - puts jobs one after the other, each answered before the next; prints the nanoseconds it took.
 * beanstalk SOCKET late COUNT - puts jobs with a delay of one second, one at a time, and reserves them on another connection; prints for
 *                               each how many nanoseconds after its second it was there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
    perror(path);
    exit(1);
  }
  return descriptor;
}

static void say(int descriptor, const char *text) {
  const size_t length = strlen(text);
  if (write(descriptor, text, length) != (ssize_t)length) exit(1);
}

/* Reads until `lines` lines have come, of which the first must begin with `word`. */
static void expect(int descriptor, const char *word, int lines, char *answer, size_t size) {
  size_t length = 0;
  for (int seen = 0; seen < lines;) {
    const ssize_t count = read(descriptor, answer + length, size - 1 - length);
    if (count <= 0) exit(1);
    for (ssize_t index = 0; index < count; index++) seen += answer[length + (size_t)index] == '\n';
    length += (size_t)count;
  }
  answer[length] = 0;
  if (strncmp(answer, word, strlen(word)) != 0) {
    fprintf(stderr, "beanstalkd answered: %s\n", answer);
    exit(1);
  }
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: beanstalk SOCKET put|late COUNT\n");
    return 2;
  }
  const int producer = connect_to(arguments[1]);
  const long jobs = atol(arguments[3]);
  char answer[512], command[128];
  if (strcmp(arguments[2], "put") == 0) {
    const int64_t began = now();
    for (long job = 0; job < jobs; job++) {
      say(producer, "put 0 31536000 60 44\r\n{\"identifier\":\"org.taskhost.bench.noop\"}....\r\n");
      expect(producer, "INSERTED", 1, answer, sizeof answer);
    }
    printf("%lld\n", (long long)(now() - began));
    return 0;
  }
  const int consumer = connect_to(arguments[1]);
  for (long job = 0; job < jobs; job++) {
    say(consumer, "reserve\r\n");
    const int64_t put = now();
    say(producer, "put 0 1 60 1\r\nx\r\n");
    expect(producer, "INSERTED", 1, answer, sizeof answer);
    expect(consumer, "RESERVED", 2, answer, sizeof answer);
    /* Its second began a little later, when the server read the command: a job seems a little later than it is. */
    printf("%lld\n", (long long)(now() - put - 1000000000));
    snprintf(command, sizeof command, "delete %ld\r\n", atol(answer + strlen("RESERVED ")));
    say(consumer, command);
    expect(consumer, "DELETED", 1, answer, sizeof answer);
  }
  return 0;
}
