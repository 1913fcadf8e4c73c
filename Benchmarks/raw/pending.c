/*
 * pending DATABASE ROWS IDENTIFIERS SINGLES BATCHES DUE - the raw limits of a store with many pending requests: SQLite alone.
 *
 * Fills the tables with ROWS requests that are due at random moments of the coming year, then measures, in this order: opening them again
 * and finding the next due; claiming and finishing DUE more that are due at once, 50 a commit; SINGLES commits of one request each; BATCHES
 * commits of 1,000 each. Prints the nanoseconds of filling, opening, claiming, singles and batches, and the bytes that SQLite holds.
 */
#include "schema.h"

static const int64_t day_ms = 86400000;
static uint64_t state = 88172645463325252u;

static int64_t random_due(int64_t now) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return now + day_ms + (int64_t)(state >> 20) % (364 * day_ms);
}

static sqlite3 *database;
static sqlite3_stmt *insert, *begin, *commit;
static int64_t next_id;
static int identifiers;

static void prepare(void) {
  insert = bench_prepare(database, bench_insert_for);
  begin = bench_prepare(database, "BEGIN IMMEDIATE");
  commit = bench_prepare(database, "COMMIT");
}

static void add(int64_t due, int64_t now) {
  sqlite3_bind_int64(insert, 1, next_id);
  sqlite3_bind_int64(insert, 2, due);
  sqlite3_bind_int64(insert, 3, now);
  sqlite3_bind_int64(insert, 4, 1 + next_id % identifiers);
  next_id++;
  bench_step(database, insert);
}

/* When the next request is due, over all identifiers; each is one step in the index. */
static int64_t next_due(void) {
  sqlite3_stmt *first = bench_prepare(database, bench_first_due);
  int64_t next = INT64_MAX;
  for (int identifier = 1; identifier <= identifiers; identifier++) {
    sqlite3_bind_int64(first, 1, identifier);
    if (sqlite3_step(first) == SQLITE_ROW && sqlite3_column_int64(first, 1) < next) next = sqlite3_column_int64(first, 1);
    sqlite3_reset(first);
  }
  sqlite3_finalize(first);
  return next;
}

static int64_t claim(int64_t expected) {
  enum { batch = 50 };
  sqlite3_stmt *due = bench_prepare(database, bench_due);
  sqlite3_stmt *start = bench_prepare(database, bench_start);
  sqlite3_stmt *finish = bench_prepare(database, bench_finish);
  sqlite3_stmt *history = bench_prepare(database, bench_history);
  int64_t requests[batch], runs[batch], done = 0, run = next_id << 1;
  int live = 0, identifier = 1;
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
    for (int looked = 0; looked < identifiers && live < batch; looked++) {
      sqlite3_bind_int64(due, 1, identifier);
      sqlite3_bind_int64(due, 2, time);
      sqlite3_bind_int(due, 3, batch - live);
      while (sqlite3_step(due) == SQLITE_ROW) requests[live++] = sqlite3_column_int64(due, 0);
      sqlite3_reset(due);
      if (live < batch) identifier = identifier % identifiers + 1;
    }
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
  for (int index = 0; index < 4; index++) sqlite3_finalize((sqlite3_stmt *[]){due, start, finish, history}[index]);
  if (done != expected) {
    fprintf(stderr, "pending: %lld of %lld requests were done\n", (long long)done, (long long)expected);
    exit(1);
  }
  return took;
}

int main(int count, char **arguments) {
  if (count != 7) {
    fprintf(stderr, "usage: pending DATABASE ROWS IDENTIFIERS SINGLES BATCHES DUE\n");
    return 2;
  }
  const int64_t rows = atoll(arguments[2]), singles = atoll(arguments[4]), batches = atoll(arguments[5]), due = atoll(arguments[6]);
  identifiers = atoi(arguments[3]);
  const int64_t now = bench_now(CLOCK_REALTIME) / 1000000;
  next_id = now << 20;

  database = bench_open(arguments[1]);
  prepare();
  const int64_t filling = bench_now(CLOCK_MONOTONIC);
  for (int64_t row = 0; row < rows; row++) {
    if (row % 10000 == 0) bench_step(database, begin);
    add(random_due(now), now);
    if (row % 10000 == 9999 || row + 1 == rows) bench_step(database, commit);
  }
  const int64_t filled = bench_now(CLOCK_MONOTONIC) - filling;
  for (int index = 0; index < 3; index++) sqlite3_finalize((sqlite3_stmt *[]){insert, begin, commit}[index]);
  bench_check(database, sqlite3_close(database), "close");

  const int64_t opening = bench_now(CLOCK_MONOTONIC);
  database = bench_open_again(arguments[1]);
  if (next_due() < now) return 1;
  const int64_t opened = bench_now(CLOCK_MONOTONIC) - opening;
  prepare();

  bench_step(database, begin);
  for (int64_t row = 0; row < due; row++) add(now, now);
  bench_step(database, commit);
  const int64_t claimed = claim(due);

  const int64_t single = bench_now(CLOCK_MONOTONIC);
  for (int64_t row = 0; row < singles; row++) {
    bench_step(database, begin);
    add(random_due(now), now);
    bench_step(database, commit);
  }
  const int64_t batch = bench_now(CLOCK_MONOTONIC);
  for (int64_t row = 0; row < batches * 1000; row++) {
    if (row % 1000 == 0) bench_step(database, begin);
    add(random_due(now), now);
    if (row % 1000 == 999) bench_step(database, commit);
  }
  const int64_t end = bench_now(CLOCK_MONOTONIC);
  printf(
      "%lld %lld %lld %lld %lld %lld\n", (long long)filled, (long long)opened, (long long)claimed, (long long)(batch - single),
      (long long)(end - batch), (long long)sqlite3_memory_used());
  return 0;
}
