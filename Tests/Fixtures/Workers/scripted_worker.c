/*
 * A program in the place of taskhost-worker that does on its link what the file says that SCRIPT in its environment names.
 *
 * The script is a list of steps: a letter, a little-endian length of 4 bytes and as many bytes.
 *   R  receive a message           S  send the bytes as a datagram
 *   F  send the bytes for ever     E  tell on standard error which descriptors are open
 *   W  wait so many milliseconds, 4 bytes
 *   X  exit with status 0          a script that is over pauses for ever: what it is sent stays unread
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char script[1 << 20], message[1 << 17];

static void tell_descriptors(void) {
  char text[1024] = "open:";
  for (int descriptor = 0; descriptor < 1024 && strlen(text) < sizeof text - 8; descriptor++)
    if (fcntl(descriptor, F_GETFD) >= 0) snprintf(text + strlen(text), sizeof text - strlen(text), " %d", descriptor);
  strcat(text, "\n");
  if (write(2, text, strlen(text)) < 0) exit(5);
}

int main(void) {
  const char *path = getenv("SCRIPT");
  int descriptor = path ? open(path, O_RDONLY) : -1;
  ssize_t length = descriptor < 0 ? 0 : read(descriptor, script, sizeof script);
  if (descriptor >= 0) close(descriptor);
  for (ssize_t at = 0; at + 5 <= length;) {
    uint32_t count;
    char step = script[at];
    memcpy(&count, script + at + 1, sizeof count);
    const char *bytes = script + at + 5;
    at += 5 + (ssize_t)count;
    if (step == 'R' && recv(3, message, sizeof message, 0) <= 0) return 6;
    if (step == 'S' && send(3, bytes, count, MSG_NOSIGNAL) < 0) return 6;
    while (step == 'F')
      if (send(3, bytes, count, MSG_NOSIGNAL) < 0) return 6;
    if (step == 'E') tell_descriptors();
    if (step == 'W' && count == sizeof(uint32_t)) {
      uint32_t milliseconds;
      memcpy(&milliseconds, bytes, sizeof milliseconds);
      usleep(milliseconds * 1000);
    }
    if (step == 'X') return 0;
  }
  for (;;) pause();
}
