/*
 * drain DATABASE ROWS PER_COMMIT - the raw limit of running requests: SQLite alone.
 *
 * Each commit records the outcomes of one batch (UPDATE, INSERT into the history) and claims the next (SELECT, UPDATE), as the host
 * does, with nothing in between. Prints the nanoseconds it took.
 */
#include "schema.h"

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: drain DATABASE ROWS PER_COMMIT\n");
    return 2;
  }
  const int64_t rows = atoll(arguments[2]);
  const int batch = atoi(arguments[3]);
  sqlite3 *database = bench_open(arguments[1]);
  const int64_t now = bench_now(CLOCK_REALTIME) / 1000000;

  sqlite3_stmt *insert = bench_prepare(database, bench_insert);
  bench_run(database, "BEGIN IMMEDIATE");
  for (int64_t row = 0; row < rows; row++) {
    sqlite3_bind_int64(insert, 1, (now << 20) + row);
    sqlite3_bind_int64(insert, 2, now);
    sqlite3_bind_int64(insert, 3, now);
    bench_step(database, insert);
  }
  bench_run(database, "COMMIT");

  sqlite3_stmt *begin = bench_prepare(database, "BEGIN IMMEDIATE");
  sqlite3_stmt *commit = bench_prepare(database, "COMMIT");
  sqlite3_stmt *due = bench_prepare(database, bench_due);
  sqlite3_stmt *start = bench_prepare(database, bench_start);
  sqlite3_stmt *finish = bench_prepare(database, bench_finish);
  sqlite3_stmt *history = bench_prepare(database, bench_history);

  int64_t *requests = calloc((size_t)batch, sizeof *requests);
  int64_t *runs = calloc((size_t)batch, sizeof *runs);
  if (requests == NULL || runs == NULL) return 1;
  int live = 0;
  int64_t done = 0, run = (now + 1) << 20;
  const int64_t began = bench_now(CLOCK_MONOTONIC);
  do {
    const int64_t time = bench_now(CLOCK_REALTIME) / 1000000;
    bench_step(database, begin);
    for (int index = 0; index < live; index++) {
      sqlite3_bind_int64(finish, 1, time);
      sqlite3_bind_int64(finish, 2, requests[index]);
      sqlite3_bind_int64(finish, 3, runs[index]);
      bench_step(database, finish);
      sqlite3_bind_int64(history, 1, runs[index]);
      sqlite3_bind_int64(history, 2, requests[index]);
      sqlite3_bind_int64(history, 3, time);
      sqlite3_bind_int64(history, 4, time);
      bench_step(database, history);
    }
    done += live;
    live = 0;
    sqlite3_bind_int64(due, 1, 1);
    sqlite3_bind_int64(due, 2, time);
    sqlite3_bind_int(due, 3, batch);
    while (sqlite3_step(due) == SQLITE_ROW) requests[live++] = sqlite3_column_int64(due, 0);
    sqlite3_reset(due);
    for (int index = 0; index < live; index++) {
      runs[index] = run++;
      sqlite3_bind_int64(start, 1, runs[index]);
      sqlite3_bind_int64(start, 2, time);
      sqlite3_bind_int64(start, 3, requests[index]);
      bench_step(database, start);
    }
    bench_step(database, commit);
  } while (live > 0);
  const int64_t took = bench_now(CLOCK_MONOTONIC) - began;
  if (done != rows) {
    fprintf(stderr, "drain: %lld of %lld rows were done\n", (long long)done, (long long)rows);
    return 1;
  }
  printf("%lld\n", (long long)took);
  return 0;
}
