#include "taskhost_postgres.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PQconninfoOption */
typedef struct {
  char *keyword, *envvar, *compiled, *val, *label, *dispchar;
  int dispsize;
} pg_option;

static struct {
  pg_option *(*conninfoParse)(const char *, char **);
  void (*conninfoFree)(pg_option *);
  int (*connectPoll)(pg_conn *);
  pg_conn *(*connectStart)(const char *const *, const char *const *, int);
  int (*status)(const pg_conn *);
  int (*socket)(const pg_conn *);
  int (*backendPID)(const pg_conn *);
  const char *(*errorMessage)(const pg_conn *);
  void (*finish)(pg_conn *);
  int (*setnonblocking)(pg_conn *, int);
  int (*enterPipelineMode)(pg_conn *);
  void (*(*setNoticeProcessor)(pg_conn *, void (*)(void *, const char *), void *))(void *, const char *);
  int (*flush)(pg_conn *);
  int (*consumeInput)(pg_conn *);
  int (*isBusy)(pg_conn *);
  pg_notify *(*notifies)(pg_conn *);
  void (*freemem)(void *);
  int (*sendQueryParams)(
      pg_conn *, const char *, int, const pg_oid *, const char *const *, const int *, const int *, int);
  int (*sendPrepare)(pg_conn *, const char *, const char *, int, const pg_oid *);
  int (*sendQueryPrepared)(pg_conn *, const char *, int, const char *const *, const int *, const int *, int);
  int (*pipelineSync)(pg_conn *);
  pg_result *(*getResult)(pg_conn *);
  int (*resultStatus)(const pg_result *);
  const char *(*resultErrorField)(const pg_result *, int);
  int (*ntuples)(const pg_result *);
  int (*nfields)(const pg_result *);
  int (*getisnull)(const pg_result *, int, int);
  int (*getlength)(const pg_result *, int, int);
  const char *(*getvalue)(const pg_result *, int, int);
  void (*clear)(pg_result *);
} pq;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *library;

static int find(void *handle, const char *name, void *place, char *message, size_t size) {
  void *symbol = dlsym(handle, name);
  if (symbol == NULL) {
    snprintf(message, size, "libpq.so.5 has no %s: install PostgreSQL's client library of version 14 or newer", name);
    return -1;
  }
  memcpy(place, &symbol, sizeof symbol);
  return 0;
}

int pg_load(char *message, size_t size) {
  pthread_mutex_lock(&lock);
  int found = 0;
  if (library == NULL) {
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
      const char *reason = dlerror();
      snprintf(message, size, "PostgreSQL's client library cannot be loaded (%s): install libpq5", reason ? reason : "unknown");
      found = -1;
    } else {
#define FIND(member, name) (found = found != 0 ? found : find(handle, name, &pq.member, message, size))
      FIND(conninfoParse, "PQconninfoParse");
      FIND(conninfoFree, "PQconninfoFree");
      FIND(connectPoll, "PQconnectPoll");
      FIND(connectStart, "PQconnectStartParams");
      FIND(status, "PQstatus");
      FIND(socket, "PQsocket");
      FIND(backendPID, "PQbackendPID");
      FIND(errorMessage, "PQerrorMessage");
      FIND(finish, "PQfinish");
      FIND(setnonblocking, "PQsetnonblocking");
      FIND(enterPipelineMode, "PQenterPipelineMode");
      FIND(setNoticeProcessor, "PQsetNoticeProcessor");
      FIND(flush, "PQflush");
      FIND(consumeInput, "PQconsumeInput");
      FIND(isBusy, "PQisBusy");
      FIND(notifies, "PQnotifies");
      FIND(freemem, "PQfreemem");
      FIND(sendQueryParams, "PQsendQueryParams");
      FIND(sendPrepare, "PQsendPrepare");
      FIND(sendQueryPrepared, "PQsendQueryPrepared");
      FIND(pipelineSync, "PQpipelineSync");
      FIND(getResult, "PQgetResult");
      FIND(resultStatus, "PQresultStatus");
      FIND(resultErrorField, "PQresultErrorField");
      FIND(ntuples, "PQntuples");
      FIND(nfields, "PQnfields");
      FIND(getisnull, "PQgetisnull");
      FIND(getlength, "PQgetlength");
      FIND(getvalue, "PQgetvalue");
      FIND(clear, "PQclear");
#undef FIND
      /* It is never unloaded: its own libraries leave threads' data behind. */
      if (found == 0) library = handle;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void ignore(void *argument, const char *message) {
  (void)argument;
  (void)message;
}

/* Whether these are numbers of ports, with commas between them; one may be left out. A connection would notice only once it has the network. */
static int are_ports(const char *text) {
  unsigned long number = 0;
  for (;; text++) {
    if (*text >= '0' && *text <= '9') {
      number = number * 10 + (unsigned long)(*text - '0');
      if (number > 65535) return 0;
    } else if (*text == ',' || *text == '\0') {
      if (*text == '\0') return 1;
      number = 0;
    } else if (*text != ' ' && *text != '\t') {
      return 0;
    }
  }
}

/* Whether libpq takes the values of an address, which it reads as it begins to connect, for as many `servers` as the address names: nowhere,
 * where that fails at once, and its reason says so. */
static int are_values_sound(const char *address, size_t servers, char *message, size_t size) {
  char *hosts = malloc(servers * (strlen(PG_NOWHERE) + 1));
  if (hosts == NULL) return 1;
  char *end = hosts;
  for (size_t server = 0; server < servers; server++) end += sprintf(end, server == 0 ? "%s" : ",%s", PG_NOWHERE);
  /* Nor a passfile: libpq has words for one that others may read. */
  const char *const keywords[] = {"dbname", "host", "hostaddr", "passfile", NULL};
  const char *const values[] = {address, hosts, "", PG_NOWHERE, NULL};
  pg_conn *connection = pq.connectStart(keywords, values, 1);
  free(hosts);
  if (connection == NULL) return 1;
  const char *reason = pq.errorMessage(connection);
  int is_sound = pq.status(connection) != PG_CONNECTION_BAD || strstr(reason, PG_NOWHERE) != NULL;
  if (!is_sound) snprintf(message, size, "%s", reason);
  pq.finish(connection);
  return is_sound;
}

/* How many servers a list names. */
static size_t count(const char *list) {
  size_t count = 1;
  for (; *list != '\0'; list++) count += *list == ',';
  return count;
}

int pg_read_address(const char *address, char *message, size_t size) {
  char *reason = NULL;
  pg_option *options = pq.conninfoParse(address, &reason);
  if (options == NULL) {
    snprintf(message, size, "%s", reason ? reason : "no memory");
    pq.freemem(reason);
    return -1;
  }
  int has_password = 0, has_service = 0, is_sound = 1;
  size_t servers = 1;
  for (const pg_option *option = options; option->keyword != NULL; option++) {
    if (option->val == NULL) continue;
    if (strcmp(option->keyword, "password") == 0 || strcmp(option->keyword, "sslpassword") == 0) has_password = 1;
    if (strcmp(option->keyword, "service") == 0) has_service = 1;
    size_t listed = strncmp(option->keyword, "host", 4) == 0 ? count(option->val) : 0;
    if (listed > servers) servers = listed;
    if (strcmp(option->keyword, "port") == 0 && !are_ports(option->val)) {
      snprintf(message, size, "\"%.40s\" is not a port", option->val);
      is_sound = 0;
    }
  }
  pq.conninfoFree(options);
  /* A service is in a file that the user who asks may not have. */
  if (is_sound && !has_service) is_sound = are_values_sound(address, servers, message, size);
  return is_sound ? has_password : -1;
}

int pg_find_unreadable(const char *address, char *message, size_t size) {
  static const char *const files[] = {"passfile", "sslrootcert", "sslcert", "sslkey", "sslcrl"};
  int is_found = 0;
  pg_option *options = pq.conninfoParse(address, NULL);
  for (const pg_option *option = options; option != NULL && option->keyword != NULL && !is_found; option++) {
    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
      /* Other values are words, such as "system", or name an engine. */
      if (option->val == NULL || option->val[0] != '/' || strcmp(option->keyword, files[file]) != 0) continue;
      is_found = access(option->val, R_OK) != 0;
      if (is_found) snprintf(message, size, "%s: %s: %s", option->keyword, option->val, strerror(errno));
    }
  }
  pq.conninfoFree(options);
  return is_found;
}

int pg_read_value(const char *address, const char *keyword, char *value, size_t size) {
  int length = -1;
  pg_option *options = pq.conninfoParse(address, NULL);
  for (const pg_option *option = options; option != NULL && option->keyword != NULL; option++) {
    if (option->val != NULL && strcmp(option->keyword, keyword) == 0) length = snprintf(value, size, "%s", option->val);
  }
  pq.conninfoFree(options);
  return length >= 0 && (size_t)length < size;
}

int pg_find_open_passfile(const char *address, char *message, size_t size) {
  char path[4096];
  if (!pg_read_value(address, "passfile", path, sizeof path)) {
    const char *named = getenv("PGPASSFILE"), *home = getenv("HOME");
    if (named != NULL) {
      snprintf(path, sizeof path, "%s", named);
    } else {
      snprintf(path, sizeof path, "%s/.pgpass", home != NULL ? home : "");
    }
  }
  struct stat found;
  if (stat(path, &found) != 0) return 0;
  if (!S_ISREG(found.st_mode)) {
    snprintf(message, size, "passfile: %s: it is not used, because it is not a plain file", path);
    return 1;
  }
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) == 0) return 0;
  snprintf(message, size, "passfile: %s: it is not used, because others may use it (mode %04o): chmod 0600", path, found.st_mode & 07777);
  return 1;
}

pg_conn *pg_connect_start(const char *const *keywords, const char *const *values, int expand_dbname) {
  pg_conn *connection = pq.connectStart(keywords, values, expand_dbname);
  if (connection != NULL) pq.setNoticeProcessor(connection, ignore, NULL);
  return connection;
}
int pg_connect_poll(pg_conn *connection) { return pq.connectPoll(connection); }
int pg_status(const pg_conn *connection) { return pq.status(connection); }
int pg_socket(const pg_conn *connection) { return pq.socket(connection); }
int pg_backend_pid(const pg_conn *connection) { return pq.backendPID(connection); }
const char *pg_error_message(const pg_conn *connection) { return pq.errorMessage(connection); }
void pg_finish(pg_conn *connection) { pq.finish(connection); }
int pg_prepare(pg_conn *connection) {
  return pq.setnonblocking(connection, 1) == 0 && pq.enterPipelineMode(connection) == 1;
}
int pg_flush(pg_conn *connection) { return pq.flush(connection); }
int pg_consume_input(pg_conn *connection) { return pq.consumeInput(connection); }
int pg_is_busy(pg_conn *connection) { return pq.isBusy(connection); }
pg_notify *pg_notifies(pg_conn *connection) { return pq.notifies(connection); }
void pg_free(void *memory) { pq.freemem(memory); }
int pg_send_query_params(
    pg_conn *connection, const char *command, int count, const pg_oid *types, const char *const *values, const int *lengths,
    const int *formats, int result_format) {
  return pq.sendQueryParams(connection, command, count, types, values, lengths, formats, result_format);
}
int pg_send_prepare(pg_conn *connection, const char *name, const char *command, int count, const pg_oid *types) {
  return pq.sendPrepare(connection, name, command, count, types);
}
int pg_send_query_prepared(
    pg_conn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats,
    int result_format) {
  return pq.sendQueryPrepared(connection, name, count, values, lengths, formats, result_format);
}
int pg_pipeline_sync(pg_conn *connection) { return pq.pipelineSync(connection); }
pg_result *pg_get_result(pg_conn *connection) { return pq.getResult(connection); }
int pg_result_status(const pg_result *result) { return pq.resultStatus(result); }
const char *pg_result_field(const pg_result *result, int field) { return pq.resultErrorField(result, field); }
int pg_ntuples(const pg_result *result) { return pq.ntuples(result); }
int pg_nfields(const pg_result *result) { return pq.nfields(result); }
int pg_is_null(const pg_result *result, int row, int column) { return pq.getisnull(result, row, column); }
int pg_length(const pg_result *result, int row, int column) { return pq.getlength(result, row, column); }
const char *pg_value(const pg_result *result, int row, int column) { return pq.getvalue(result, row, column); }
void pg_clear(pg_result *result) { pq.clear(result); }
