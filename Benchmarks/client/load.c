/*
 * load SOCKET CLIENTS MESSAGES BATCH REQUEST [FIFO SUCCEEDED] - submits as fast as the host answers.
 *
 * Each client is a thread with a connection of its own: it posts the JSON text REQUEST, or an array of BATCH of them if that is more than
 * 1, and waits for the answer before it posts again. With a FIFO it then waits for a byte from it, and until the host's status counts
 * SUCCEEDED requests as succeeded. In REQUEST, twelve @ in a row stand for a number that is drawn anew for each request: milliseconds
 * between a day and a year. Prints the nanoseconds until all was submitted, and until the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The answer to an array of 10,000 requests has about 2 MB. */
enum { most_clients = 1024, buffer_bytes = 16 << 20 };

static const char placeholder[] = "@@@@@@@@@@@@";
enum { placeholder_bytes = sizeof placeholder - 1 };
static const int64_t day_ms = 86400000;

static const char *socket_path;
static char *message;
static size_t message_length;
static int64_t messages_each;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *what, const char *detail) {
  fprintf(stderr, "load: %s: %.400s\n", what, detail);
  exit(1);
}

static int connect_to_host(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(socket_path) >= sizeof address.sun_path) fail("the socket's path is too long", socket_path);
  strcpy(address.sun_path, socket_path);
  const int socket_file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_file < 0 || connect(socket_file, (struct sockaddr *)&address, sizeof address) != 0) fail("no host is there", socket_path);
  return socket_file;
}

/* Sends a request and reads the whole answer into `buffer`; returns its body. */
static const char *exchange(int socket_file, const char *bytes, size_t length, const char *status, char *buffer) {
  for (size_t sent = 0; sent < length;) {
    const ssize_t count = write(socket_file, bytes + sent, length - sent);
    if (count <= 0) fail("the host hung up", bytes);
    sent += (size_t)count;
  }
  size_t have = 0;
  char *body = NULL;
  size_t body_length = 0;
  while (body == NULL || have < (size_t)(body - buffer) + body_length) {
    const ssize_t count = read(socket_file, buffer + have, buffer_bytes - 1 - have);
    if (count <= 0) fail("the answer is incomplete", buffer);
    have += (size_t)count;
    buffer[have] = 0;
    if (body == NULL && (body = strstr(buffer, "\r\n\r\n")) != NULL) {
      body += 4;
      const char *header = strcasestr(buffer, "\r\ncontent-length:");
      if (header == NULL || header > body) fail("the answer has no Content-Length", buffer);
      body_length = strtoull(header + 17, NULL, 10);
    }
  }
  if (strncmp(buffer + 9, status, 3) != 0) fail("the host refused", buffer);
  return body;
}

/* Draws the numbers of a message; `places` are those of the placeholders in it. */
static void draw(char *bytes, const size_t *places, size_t count, uint64_t *random) {
  for (size_t index = 0; index < count; index++) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    char number[placeholder_bytes + 1];
    snprintf(number, sizeof number, "%12lld", (long long)(day_ms + (int64_t)(*random >> 20) % (364 * day_ms)));
    memcpy(bytes + places[index], number, placeholder_bytes);
  }
}

static void *client(void *context) {
  char *buffer = malloc(buffer_bytes), *own = malloc(message_length + 1);
  size_t *places = malloc((message_length / placeholder_bytes + 1) * sizeof *places);
  if (buffer == NULL || own == NULL || places == NULL) abort();
  memcpy(own, message, message_length);
  own[message_length] = 0;
  size_t count = 0;
  for (char *at = own; (at = strstr(at, placeholder)) != NULL; at += placeholder_bytes) places[count++] = (size_t)(at - own);
  uint64_t random = (uint64_t)(uintptr_t)context * 0x9E3779B97F4A7C15u + (uint64_t)now();
  const int socket_file = connect_to_host();
  for (int64_t sent = 0; sent < messages_each; sent++) {
    draw(own, places, count, &random);
    exchange(socket_file, own, message_length, "201", buffer);
  }
  close(socket_file);
  free(places);
  free(own);
  free(buffer);
  return NULL;
}

/* One POST with `count` times `request`. */
static void write_message(const char *request, int count) {
  const size_t length = strlen(request);
  const size_t body_length = count == 1 ? length : (size_t)count * (length + 1) + 1;
  message = malloc(body_length + 256);
  if (message == NULL) abort();
  char *end = message + sprintf(
      message, "POST /v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
      body_length);
  for (int index = 0; index < count; index++) {
    if (count > 1) *end++ = index == 0 ? '[' : ',';
    memcpy(end, request, length);
    end += length;
  }
  if (count > 1) *end++ = ']';
  message_length = (size_t)(end - message);
}

static void wait_until_succeeded(int fifo, int64_t expected) {
  char byte;
  if (read(fifo, &byte, 1) != 1) fail("the plugin said nothing", "FIFO");
  static char buffer[buffer_bytes];
  static const char status[] = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const int socket_file = connect_to_host();
  /* The last outcome becomes durable a moment after its handler has returned. */
  const int64_t latest = now() + 30000000000;
  do {
    const char *body = exchange(socket_file, status, sizeof status - 1, "200", buffer);
    const char *member = strstr(body, "\"succeeded\":");
    if (member != NULL && strtoll(member + 12, NULL, 10) == expected) return;
  } while (now() < latest);
  fail("every run has ended, but after 30 s not all requests have succeeded", strstr(buffer, "\r\n\r\n"));
}

int main(int count, char **arguments) {
  const int clients = count == 6 || count == 8 ? atoi(arguments[2]) : 0;
  if (clients < 1 || clients > most_clients) {
    fprintf(stderr, "usage: load SOCKET CLIENTS MESSAGES BATCH REQUEST [FIFO SUCCEEDED] (1 to %d clients)\n", most_clients);
    return 2;
  }
  socket_path = arguments[1];
  messages_each = atoll(arguments[3]) / clients;
  write_message(arguments[5], atoi(arguments[4]));
  const int fifo = count == 8 ? open(arguments[6], O_RDWR | O_CLOEXEC) : -1;
  if (count == 8 && fifo < 0) fail("cannot be opened", arguments[6]);

  pthread_t threads[most_clients];
  const int64_t began = now();
  for (int index = 0; index < clients; index++) {
    if (pthread_create(&threads[index], NULL, client, (void *)(uintptr_t)(index + 1)) != 0) abort();
  }
  for (int index = 0; index < clients; index++) pthread_join(threads[index], NULL);
  const int64_t submitted = now() - began;
  if (fifo >= 0) wait_until_succeeded(fifo, atoll(arguments[7]));
  printf("%lld %lld\n", (long long)submitted, (long long)(now() - began));
  return 0;
}
