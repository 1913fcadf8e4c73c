/* What a fleet uses of libpq, which is loaded when the first connection is made: a host without a fleet needs neither the library nor the
 * memory of the twenty libraries that it brings. The names are libpq's, with the prefix pg_ for PQ.
 *
 * - Source: https://www.postgresql.org/docs/15/libpq.html; the values of the enumerations are part of its ABI. */
#ifndef TASKHOST_POSTGRES_H
#define TASKHOST_POSTGRES_H

#include <stddef.h>

typedef struct pg_conn pg_conn;
typedef struct pg_result pg_result;
typedef unsigned int pg_oid;

typedef struct pg_notify {
  char *name;
  int backend;
  char *payload;
  struct pg_notify *next;
} pg_notify;

/* ConnStatusType */
enum { PG_CONNECTION_OK = 0, PG_CONNECTION_BAD = 1 };
/* PostgresPollingStatusType */
enum { PG_POLLING_FAILED = 0, PG_POLLING_READING = 1, PG_POLLING_WRITING = 2, PG_POLLING_OK = 3 };
/* ExecStatusType */
enum {
  PG_EMPTY_QUERY = 0,
  PG_COMMAND_OK = 1,
  PG_TUPLES_OK = 2,
  PG_BAD_RESPONSE = 5,
  PG_FATAL_ERROR = 7,
  PG_PIPELINE_SYNC = 10,
  PG_PIPELINE_ABORTED = 11
};
/* PG_DIAG_SQLSTATE */
enum { PG_FIELD_SQLSTATE = 'C', PG_FIELD_MESSAGE = 'M' };

/* There is no file of that name, and no server's socket. */
#define PG_NOWHERE "/dev/null/taskhost"

/* Loads libpq.so.5; any number of times, from any thread. Returns 0, or -1 with the reason in `message`. Everything below needs it. */
int pg_load(char *message, size_t size);

/* Reads an address as a connection would, without connecting. Returns 1 if it has a password, 0 if it has none, or -1 with the reason in
 * `message`. */
int pg_read_address(const char *address, char *message, size_t size);

/* Whether this user cannot read one of the files that an address names, which `message` says then. */
int pg_find_unreadable(const char *address, char *message, size_t size);

/* What an address says of a keyword. Returns whether it says something of fewer than `size` bytes. */
int pg_read_value(const char *address, const char *keyword, char *value, size_t size);

/* Whether libpq would refuse the passfile of an address, or the user's own, with words on the standard error; `message` says why then. */
int pg_find_open_passfile(const char *address, char *message, size_t size);

/* Begins to connect; nothing that the server says goes to the standard error. */
pg_conn *pg_connect_start(const char *const *keywords, const char *const *values, int expand_dbname);
/* Goes on with that, once the socket allows what was said last: PG_POLLING_WRITING at first. It does not wait for the server. */
int pg_connect_poll(pg_conn *connection);
int pg_status(const pg_conn *connection);
int pg_socket(const pg_conn *connection);
/* The server's process, as the other end has said it: a pool of connections says something of its own. */
int pg_backend_pid(const pg_conn *connection);
const char *pg_error_message(const pg_conn *connection);
void pg_finish(pg_conn *connection);
/* Makes the connection non-blocking, in pipeline mode. Returns whether that worked. */
int pg_prepare(pg_conn *connection);
int pg_flush(pg_conn *connection);
int pg_consume_input(pg_conn *connection);
int pg_is_busy(pg_conn *connection);
pg_notify *pg_notifies(pg_conn *connection);
void pg_free(void *memory);
int pg_send_query_params(
    pg_conn *connection, const char *command, int count, const pg_oid *types, const char *const *values, const int *lengths,
    const int *formats, int result_format);
/* Lets the server keep a statement under a name, for as long as the connection lasts. */
int pg_send_prepare(pg_conn *connection, const char *name, const char *command, int count, const pg_oid *types);
int pg_send_query_prepared(
    pg_conn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats,
    int result_format);
int pg_pipeline_sync(pg_conn *connection);
pg_result *pg_get_result(pg_conn *connection);
int pg_result_status(const pg_result *result);
const char *pg_result_field(const pg_result *result, int field);
int pg_ntuples(const pg_result *result);
int pg_nfields(const pg_result *result);
int pg_is_null(const pg_result *result, int row, int column);
int pg_length(const pg_result *result, int row, int column);
const char *pg_value(const pg_result *result, int row, int column);
void pg_clear(pg_result *result);

#endif
