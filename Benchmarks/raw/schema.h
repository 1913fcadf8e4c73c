/* The tables and statements that the raw limits work on: those of the host's store, as far as a run that succeeds touches them. */
#ifndef BENCH_SCHEMA_H
#define BENCH_SCHEMA_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const bench_schema =
    "CREATE TABLE requests (id INTEGER PRIMARY KEY, identifier INTEGER NOT NULL, state INTEGER NOT NULL, due_ms INTEGER NOT NULL,"
    " priority INTEGER NOT NULL, submitted_ms INTEGER NOT NULL, earliest_begin_ms INTEGER, conditions INTEGER NOT NULL, unique_key TEXT,"
    " on_conflict INTEGER NOT NULL, tags TEXT, retry_attempts INTEGER NOT NULL, retry_backoff INTEGER NOT NULL,"
    " retry_initial_ms INTEGER NOT NULL, retry_maximum_ms INTEGER NOT NULL, every_ms INTEGER, occurrence_ms INTEGER,"
    " attempts_spent INTEGER NOT NULL, losses INTEGER NOT NULL, stop_requested INTEGER, blocked_by INTEGER, run INTEGER,"
    " started_ms INTEGER, ended_ms INTEGER, last_outcome INTEGER, last_message TEXT, lane INTEGER NOT NULL DEFAULT 0,"
    " repeats INTEGER NOT NULL DEFAULT 0, clock INTEGER NOT NULL DEFAULT 0, deadline_ms INTEGER, relaxed INTEGER NOT NULL DEFAULT 0,"
    " event TEXT, event_due_ms INTEGER, event_since_ms INTEGER, missed_left INTEGER NOT NULL DEFAULT 0, options TEXT, paused TEXT,"
    " set_aside INTEGER) STRICT;"
    "CREATE INDEX requests_pending ON requests (lane, priority DESC, due_ms) WHERE state = 20;"
    "CREATE INDEX requests_running ON requests (id) WHERE state = 40;"
    "CREATE INDEX requests_blocked ON requests (identifier) WHERE state = 10;"
    "CREATE INDEX requests_deadline ON requests (deadline_ms) WHERE deadline_ms IS NOT NULL AND relaxed = 0 AND state = 20;"
    "CREATE INDEX requests_event ON requests (event) WHERE event IS NOT NULL AND state < 50;"
    "CREATE UNIQUE INDEX requests_key ON requests (identifier, unique_key) WHERE unique_key IS NOT NULL AND state < 50;"
    "CREATE INDEX requests_ended ON requests (state, ended_ms, id, identifier) WHERE state >= 50;"
    "CREATE TABLE request_counts (identifier INTEGER NOT NULL, state INTEGER NOT NULL, requests INTEGER NOT NULL,"
    " PRIMARY KEY (identifier, state)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, request INTEGER NOT NULL, identifier INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, outcome INTEGER NOT NULL, stop_reason INTEGER, forced INTEGER NOT NULL,"
    " message TEXT, output BLOB, completed INTEGER, total INTEGER, cpu_ns INTEGER, log TEXT) STRICT;";

static const char *const bench_insert =
    "INSERT INTO requests (id, identifier, state, due_ms, priority, submitted_ms, conditions, on_conflict, retry_attempts, retry_backoff,"
    " retry_initial_ms, retry_maximum_ms, attempts_spent, losses, lane)"
    " VALUES (?, 1, 20, ?, 0, ?, 0, 0, 5, 1, 30000, 18000000, 0, 0, 1)";

/* The same for an identifier of its own, which has one lane with the same number. */
static const char *const bench_insert_for =
    "INSERT INTO requests (id, identifier, state, due_ms, priority, submitted_ms, conditions, on_conflict, retry_attempts, retry_backoff,"
    " retry_initial_ms, retry_maximum_ms, attempts_spent, losses, lane)"
    " VALUES (?1, ?4, 20, ?2, 0, ?3, 0, 0, 5, 1, 30000, 18000000, 0, 0, ?4)";

static const char *const bench_first_due =
    "SELECT id, due_ms FROM requests WHERE state = 20 AND lane = ? AND priority = 0 ORDER BY due_ms LIMIT 1";

static const char *const bench_due =
    "SELECT id FROM requests WHERE state = 20 AND lane = ? AND priority = 0 AND due_ms <= ? ORDER BY due_ms LIMIT ?";

static const char *const bench_start = "UPDATE requests SET state = 40, run = ?, started_ms = ? WHERE id = ? AND state = 20";

static const char *const bench_finish =
    "UPDATE requests SET state = 50, attempts_spent = 0, losses = 0, run = NULL, ended_ms = ?, last_outcome = 1, last_message = NULL"
    " WHERE id = ? AND run = ?";

static const char *const bench_history =
    "INSERT INTO runs (id, request, identifier, attempt, started_ms, ended_ms, outcome, forced, cpu_ns)"
    " VALUES (?, ?, 1, 1, ?, ?, 1, 0, 1000)";

static inline void bench_check(sqlite3 *database, int code, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static inline void bench_run(sqlite3 *database, const char *sql) {
  bench_check(database, sqlite3_exec(database, sql, NULL, NULL, NULL), sql);
}

static inline sqlite3_stmt *bench_prepare(sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement = NULL;
  bench_check(database, sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
  return statement;
}

/* Steps a statement that gives no rows. */
static inline void bench_step(sqlite3 *database, sqlite3_stmt *statement) {
  bench_check(database, sqlite3_step(statement), "step");
  sqlite3_reset(statement);
}

/* A database with the host's settings: write-ahead log, every commit synced, no checkpoint in the way of a commit. */
static inline sqlite3 *bench_open_again(const char *path) {
  sqlite3 *database = NULL;
  bench_check(database, sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), path);
  bench_run(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16384");
  return database;
}

/* The same with empty tables. */
static inline sqlite3 *bench_open(const char *path) {
  sqlite3 *database = bench_open_again(path);
  bench_run(database, bench_schema);
  return database;
}

static inline int64_t bench_now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
