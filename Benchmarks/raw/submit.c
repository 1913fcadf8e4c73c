/*
 * submit DATABASE CLIENTS MESSAGES ROWS_PER_MESSAGE - the raw limit of submitting: a socket and a group commit.
 *
 * Each client is a thread with a socket pair: it sends a message and waits for the answer. One server thread reads what is there, inserts
 * all of it in one commit and then answers. Prints the nanoseconds it took.
 */
#include "schema.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* About what a request over HTTP and its answer have. */
enum { message_bytes = 256, answer_bytes = 320, most_clients = 1024 };

static int64_t messages_each;

static void *client(void *context) {
  const int socket = *(int *)context;
  char message[message_bytes] = {0}, answer[answer_bytes];
  for (int64_t sent = 0; sent < messages_each; sent++) {
    if (write(socket, message, sizeof message) != sizeof message) abort();
    if (recv(socket, answer, sizeof answer, MSG_WAITALL) != sizeof answer) abort();
  }
  close(socket);
  return NULL;
}

int main(int count, char **arguments) {
  const int clients = count == 5 ? atoi(arguments[2]) : 0;
  if (clients < 1 || clients > most_clients) {
    fprintf(stderr, "usage: submit DATABASE CLIENTS MESSAGES ROWS_PER_MESSAGE (1 to %d clients)\n", most_clients);
    return 2;
  }
  messages_each = atoll(arguments[3]) / clients;
  const int rows = atoi(arguments[4]);
  sqlite3 *database = bench_open(arguments[1]);
  sqlite3_stmt *insert = bench_prepare(database, bench_insert);
  sqlite3_stmt *begin = bench_prepare(database, "BEGIN IMMEDIATE");
  sqlite3_stmt *commit = bench_prepare(database, "COMMIT");

  int ends[most_clients][2];
  pthread_t threads[most_clients];
  struct pollfd polled[most_clients];
  const int64_t began = bench_now(CLOCK_MONOTONIC);
  for (int index = 0; index < clients; index++) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[index]) != 0) return 1;
    polled[index] = (struct pollfd){.fd = ends[index][0], .events = POLLIN};
    if (pthread_create(&threads[index], NULL, client, &ends[index][1]) != 0) return 1;
  }
  int64_t id = bench_now(CLOCK_REALTIME);
  int open = clients;
  char message[message_bytes], answer[answer_bytes] = {0};
  while (open > 0) {
    if (poll(polled, (nfds_t)clients, -1) < 0) return 1;
    int waiting[most_clients], wait_count = 0;
    for (int index = 0; index < clients; index++) {
      if (polled[index].fd < 0 || polled[index].revents == 0) continue;
      if (recv(polled[index].fd, message, sizeof message, MSG_WAITALL) == sizeof message) {
        waiting[wait_count++] = polled[index].fd;
      } else {
        polled[index].fd = -1;
        open--;
      }
    }
    if (wait_count == 0) continue;
    bench_step(database, begin);
    for (int index = 0; index < wait_count * rows; index++) {
      sqlite3_bind_int64(insert, 1, id++);
      sqlite3_bind_int64(insert, 2, id / 1000000 + 31536000000);
      sqlite3_bind_int64(insert, 3, id / 1000000);
      bench_step(database, insert);
    }
    bench_step(database, commit);
    for (int index = 0; index < wait_count; index++) {
      if (write(waiting[index], answer, sizeof answer) != sizeof answer) return 1;
    }
  }
  printf("%lld\n", (long long)(bench_now(CLOCK_MONOTONIC) - began));
  for (int index = 0; index < clients; index++) pthread_join(threads[index], NULL);
  return 0;
}
