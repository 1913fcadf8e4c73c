/*
 * serve - a web server on 127.0.0.1 that sends zeros as fast as a client takes them, with a thread for each connection.
 *
 * GET /BYTES sends as many. GET /hold/BYTES/… sends half of them, and the rest when the server gets a byte on its standard input. Prints its
 * port, and then, for each answer that it holds back, how many there are.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int held, released;
static char zeros[1 << 18];

static int send_all(int connection, const char *bytes, int64_t length) {
  while (length > 0) {
    const ssize_t count = write(connection, bytes, (size_t)length);
    if (count <= 0) return 0;
    bytes += count;
    length -= count;
  }
  return 1;
}

static int send_zeros(int connection, int64_t length) {
  for (; length > 0; length -= (int64_t)sizeof zeros) {
    if (!send_all(connection, zeros, length < (int64_t)sizeof zeros ? length : (int64_t)sizeof zeros)) return 0;
  }
  return 1;
}

static void hold(void) {
  pthread_mutex_lock(&mutex);
  printf("%d\n", ++held);
  fflush(stdout);
  while (!released) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

/* Answers the requests of a connection until the client closes it. */
static void *serve(void *context) {
  const int connection = (int)(intptr_t)context;
  char head[8192];
  size_t have = 0;
  for (;;) {
    const ssize_t count = read(connection, head + have, sizeof head - 1 - have);
    if (count <= 0) break;
    have += (size_t)count;
    head[have] = 0;
    if (strstr(head, "\r\n\r\n") == NULL) continue;
    const int is_held = strncmp(head, "GET /hold/", 10) == 0;
    const int64_t length = strtoll(head + (is_held ? 10 : 5), NULL, 10), half = is_held ? length / 2 : 0;
    char answer[160];
    const int written = snprintf(
        answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n\r\n", (long long)length);
    if (!send_all(connection, answer, written) || !send_zeros(connection, half)) break;
    if (is_held) hold();
    if (!send_zeros(connection, length - half)) break;
    have = 0;
  }
  close(connection);
  return NULL;
}

static void *release(void *context) {
  (void)context;
  char byte;
  if (read(0, &byte, 1) == 1) {
    pthread_mutex_lock(&mutex);
    released = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  pthread_attr_t attributes;
  pthread_t thread;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0
      || getsockname(listener, (struct sockaddr *)&address, &length) != 0 || pthread_attr_init(&attributes) != 0
      || pthread_attr_setstacksize(&attributes, 1 << 16) != 0 || pthread_create(&thread, &attributes, release, NULL) != 0) {
    perror("serve");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) continue;
    if (pthread_create(&thread, &attributes, serve, (void *)(intptr_t)connection) != 0) close(connection);
    else pthread_detach(thread);
  }
}
