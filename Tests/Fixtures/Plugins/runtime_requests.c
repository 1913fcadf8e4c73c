/*
 * The extensions org.taskhost.requests/1 and /2, with two identifiers: what the first one's runs are shown becomes their output, a line each.
 *
 * Payload: "list"; "count"; "broken", where the host fails on its second page; "nested", with a visitor that calls the host back;
 * "cancel"; "thread", from another thread; "notify";
 * "ask", every question; "change", snooze and update.
 *
 * -DAT_LAUNCH: lists and cancels while launching, and checks every answer; what it is shown goes to the log.
 */
#include "runtime_fixture.h"

#define FIRST "test.runtime.requests"
#define SECOND "test.runtime.requests.second"
#define ID "01976c1e-0000-7000-8000-000000000000"

static const taskhost_requests *requests;
static const taskhost_requests_2 *more;
static taskhost_launch kept;

typedef struct {
  taskhost_task task;
  char text[4096];
  int64_t count, bytes, failures;
  pthread_t thread;
} gathered;

static void gather(const taskhost_pending_request *pending, void *context) {
  gathered *all = context;
  size_t length = strlen(all->text);
  const char *payload = pending->payload;
  if (pending->struct_size != sizeof *pending || !payload || payload[pending->payload_length] != 0) all->failures++;
  if (!pthread_equal(pthread_self(), all->thread)) all->failures++;
  if (length < sizeof all->text - 256)
    snprintf(all->text + length, sizeof all->text - length, "%s %s kind %d attempt %u begin %lld start %lld conditions %u: %.20s\n",
             pending->identifier, pending->request_id, pending->kind, pending->attempt, (long long)pending->earliest_begin_unix_ms,
             (long long)pending->next_start_unix_ms, pending->conditions, payload);
  all->count++;
  all->bytes += (int64_t)pending->payload_length;
}

static void gather_nested(const taskhost_pending_request *pending, void *context) {
  gathered *all = context;
  gathered inner = {.thread = pthread_self()};
  size_t length = 0;
  gather(pending, all);
  if (requests->list(all->task, gather, &inner) != TASKHOST_OK || inner.count == 0 || inner.failures) all->failures++;
  if (api->state_get(all->task, "k", NULL, 0, &length) != TASKHOST_ENOTFOUND) all->failures++;
  if (requests->cancel_all(all->task, NULL) != TASKHOST_OK) all->failures++;
  if (api->log(all->task, TASKHOST_INFO, "visited") != TASKHOST_OK) all->failures++;
}

static void gather_text(const char *json, size_t length, void *context) {
  gathered *all = context;
  size_t used = strlen(all->text);
  if (!json || json[length] != 0 || !pthread_equal(pthread_self(), all->thread)) all->failures++;
  if (used < sizeof all->text - 64) snprintf(all->text + used, sizeof all->text - used, "%.40s\n", json);
  all->count++;
}

static void *list_there(void *context) {
  gathered *all = context;
  all->thread = pthread_self();
  if (requests->list(all->task, gather, all) != TASKHOST_OK) all->failures++;
  return NULL;
}

static taskhost_result ask(taskhost_task task, gathered *all) {
  const char *id = api->request_id(task);
  char request[64];
  snprintf(request, sizeof request, "%s", id);
  /* Two identifiers, three pages of two texts each. */
  CHECK(more->list(task, NULL, gather_text, all) == TASKHOST_OK && all->count == 12);
  CHECK(more->list(task, SECOND, gather_text, all) == TASKHOST_OK && all->count == 18);
  CHECK(more->show(task, request, gather_text, all) == TASKHOST_OK && all->count == 19);
  CHECK(more->conditions(task, gather_text, all) == TASKHOST_OK && all->count == 20);
  CHECK(more->why(task, request, gather_text, all) == TASKHOST_OK && all->count == 21);
  CHECK(more->runs(task, FIRST, 3, gather_text, all) == TASKHOST_OK && all->count == 24);
  CHECK(more->runs(task, FIRST, UINT32_MAX, gather_text, all) == TASKHOST_OK && all->count > 24);
  CHECK(more->last_success(task, FIRST, gather_text, all) == TASKHOST_ENOTFOUND);
  CHECK(!strcmp(api->last_error(), "nothing has succeeded"));
  CHECK(all->failures == 0);
  return TASKHOST_SUCCESS;
}

static taskhost_result change(taskhost_task task, gathered *all) {
  char id[64];
  snprintf(id, sizeof id, "%s", api->request_id(task));
  taskhost_submission submission = {.struct_size = sizeof submission};
  taskhost_request request = {.struct_size = sizeof request, .identifier = SECOND, .payload = "p", .payload_length = 1, .priority = 3};
  CHECK(more->snooze(task, id, 1500, NULL) == TASKHOST_OK);
  CHECK(more->snooze(task, id, 2000, &submission) == TASKHOST_OK);
  CHECK(submission.disposition == TASKHOST_UPDATED && submission.next_start_unix_ms == 1700000002000 && !strcmp(submission.request_id, id));
  CHECK(more->update(task, id, &request, &submission) == TASKHOST_OK);
  CHECK(submission.disposition == TASKHOST_UPDATED && submission.next_start_unix_ms == 1700000000000);
  submission.struct_size = 1;
  CHECK(more->snooze(task, id, 1, &submission) == TASKHOST_EINVAL && more->update(task, id, &request, &submission) == TASKHOST_EINVAL);
  CHECK(more->snooze(task, "42", 1, NULL) == TASKHOST_EINVAL && more->snooze(task, NULL, 1, NULL) == TASKHOST_EINVAL);
  CHECK(more->snooze(task, id, UINT64_MAX, NULL) == TASKHOST_EINVAL);
  CHECK(more->update(task, id, NULL, NULL) == TASKHOST_EINVAL && more->update(task, "", &request, NULL) == TASKHOST_EINVAL);
  request.priority = 11;
  CHECK(more->update(task, id, &request, NULL) == TASKHOST_EINVAL);
  return all->failures == 0 ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
}

static taskhost_result refusals(taskhost_task task, gathered *all) {
  uint64_t count = 77;
  taskhost_task wrong[] = {0, 1, task + 1, kept};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
    CHECK(requests->list(wrong[index], gather, all) == TASKHOST_ESTALE && strlen(api->last_error()) > 0);
    CHECK(requests->cancel_identifier(wrong[index], FIRST, &count) == TASKHOST_ESTALE);
    CHECK(requests->cancel_all(wrong[index], &count) == TASKHOST_ESTALE);
    CHECK(more->list(wrong[index], NULL, gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->list(wrong[index], FIRST, gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->show(wrong[index], ID, gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->why(wrong[index], ID, gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->conditions(wrong[index], gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->runs(wrong[index], FIRST, 1, gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->last_success(wrong[index], FIRST, gather_text, all) == TASKHOST_ESTALE);
    CHECK(more->snooze(wrong[index], ID, 1, NULL) == TASKHOST_ESTALE);
    CHECK(more->update(wrong[index], ID, NULL, NULL) == TASKHOST_ESTALE);
    CHECK(more->notify_event(wrong[index], FIRST, NULL, 0, &count) == TASKHOST_ESTALE);
    CHECK(requests->launch_list(wrong[index], gather, all) == TASKHOST_ELAUNCHED);
    CHECK(requests->launch_cancel(wrong[index], NULL) == TASKHOST_ELAUNCHED);
  }
  CHECK(requests->list(task, NULL, all) == TASKHOST_EINVAL);
  CHECK(requests->cancel_identifier(task, NULL, &count) == TASKHOST_EINVAL);
  CHECK(requests->cancel_identifier(task, "", &count) == TASKHOST_EINVAL);
  CHECK(requests->cancel_identifier(task, "no identifier", &count) == TASKHOST_EINVAL);
  CHECK(requests->cancel_identifier(task, "test.other", &count) == TASKHOST_ENOTPERMITTED);
  CHECK(more->list(task, NULL, NULL, all) == TASKHOST_EINVAL && more->conditions(task, NULL, all) == TASKHOST_EINVAL);
  CHECK(more->list(task, "no identifier", gather_text, all) == TASKHOST_EINVAL);
  CHECK(more->show(task, NULL, gather_text, all) == TASKHOST_EINVAL && more->show(task, ID, NULL, all) == TASKHOST_EINVAL);
  CHECK(more->why(task, "42", gather_text, all) == TASKHOST_EINVAL && more->why(task, ID, NULL, all) == TASKHOST_EINVAL);
  CHECK(more->runs(task, NULL, 1, gather_text, all) == TASKHOST_EINVAL && more->runs(task, FIRST, 0, gather_text, all) == TASKHOST_EINVAL);
  CHECK(more->runs(task, FIRST, 1, NULL, all) == TASKHOST_EINVAL && more->last_success(task, "", gather_text, all) == TASKHOST_EINVAL);
  char endless[300];
  memset(endless, 'x', sizeof endless);
  CHECK(more->notify_event(task, NULL, NULL, 0, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, "", NULL, 0, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, "a\n", NULL, 0, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, "\xff", NULL, 0, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, "file:/x", NULL, 0, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, endless, NULL, 0, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, FIRST, NULL, 1, &count) == TASKHOST_EINVAL);
  CHECK(more->notify_event(task, FIRST, endless, 65537, &count) == TASKHOST_ETOOBIG);
  CHECK(more->notify_event(task, FIRST, endless, SIZE_MAX, &count) == TASKHOST_ETOOBIG);
  CHECK(count == 77 && all->count == 0);
  CHECK(api->extension(NULL) == NULL && api->extension("") == NULL && api->extension("org.taskhost.requests/10") == NULL);
  CHECK(api->extension(TASKHOST_EXTENSION_REQUESTS) == requests);
  CHECK(requests->struct_size == sizeof *requests && requests->reserved == 0);
  CHECK(api->extension(TASKHOST_EXTENSION_REQUESTS_2) == more && more->struct_size == sizeof *more && more->reserved == 0);
  return TASKHOST_SUCCESS;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  gathered all = {.task = task, .thread = pthread_self()};
  const void *bytes = NULL;
  size_t length = 0;
  uint64_t count = 0;
  CHECK(api->payload(task, &bytes, &length) == TASKHOST_OK);
  const char *step = bytes;
  if (!strcmp(step, "list") || !strcmp(step, "count")) {
    CHECK(requests->list(task, gather, &all) == TASKHOST_OK);
    if (!strcmp(step, "count")) snprintf(all.text, sizeof all.text, "%lld %lld", (long long)all.count, (long long)all.bytes);
  } else if (!strcmp(step, "broken")) {
    CHECK(requests->list(task, gather, &all) == TASKHOST_EUNAVAILABLE);
    CHECK(!strcmp(api->last_error(), "the store cannot be read"));
    snprintf(all.text, sizeof all.text, "%lld", (long long)all.count);
  } else if (!strcmp(step, "nested")) {
    CHECK(requests->list(task, gather_nested, &all) == TASKHOST_OK);
    snprintf(all.text, sizeof all.text, "%lld", (long long)all.count);
  } else if (!strcmp(step, "thread")) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, list_there, &all) == 0 && pthread_join(thread, NULL) == 0);
    snprintf(all.text, sizeof all.text, "%lld", (long long)all.count);
  } else if (!strcmp(step, "cancel")) {
    CHECK(requests->cancel_identifier(task, FIRST, &count) == TASKHOST_OK);
    CHECK(requests->cancel_all(task, NULL) == TASKHOST_OK);
    snprintf(all.text, sizeof all.text, "%llu", (unsigned long long)count);
  } else if (!strcmp(step, "ask")) {
    return ask(task, &all);
  } else if (!strcmp(step, "change")) {
    return change(task, &all);
  } else if (!strcmp(step, "notify")) {
    CHECK(more->notify_event(task, FIRST ".a", NULL, 0, NULL) == TASKHOST_OK);
    CHECK(more->notify_event(task, FIRST ".b", "", 0, &count) == TASKHOST_OK && count == 2);
    CHECK(more->notify_event(task, FIRST, "\0x", 2, &count) == TASKHOST_OK);
    snprintf(all.text, sizeof all.text, "%llu", (unsigned long long)count);
  } else {
    return refusals(task, &all);
  }
  CHECK(all.failures == 0);
  CHECK(api->set_output(task, all.text, strlen(all.text)) == TASKHOST_OK);
  return TASKHOST_SUCCESS;
}

#ifdef AT_LAUNCH
#define EXPECT(condition) \
  do { \
    if (!(condition)) { \
      snprintf(all.text, sizeof all.text, "line %d: %s: %s", __LINE__, #condition, api->last_error()); \
      api->launch_log(launch, TASKHOST_ERROR, all.text); \
      return TASKHOST_EINTERNAL; \
    } \
  } while (0)

static taskhost_status submit(taskhost_launch launch, const char *identifier) {
  taskhost_request request = {.struct_size = sizeof request, .identifier = identifier};
  return api->launch_submit(launch, &request);
}

static taskhost_status use(taskhost_launch launch, int is_registered) {
  gathered all = {.thread = pthread_self()};
  if (!is_registered) {
    EXPECT(requests->launch_list(launch, gather, &all) == TASKHOST_ENOTPERMITTED);
    EXPECT(requests->launch_cancel(launch, NULL) == TASKHOST_ENOTPERMITTED);
    EXPECT(requests->launch_cancel(launch, FIRST) == TASKHOST_ENOTPERMITTED);
    return TASKHOST_OK;
  }
  EXPECT(requests->launch_list(launch, NULL, NULL) == TASKHOST_EINVAL);
  EXPECT(requests->launch_cancel(launch, "no identifier") == TASKHOST_EINVAL);
  EXPECT(requests->launch_cancel(launch, "test.other") == TASKHOST_ENOTPERMITTED);
  EXPECT(requests->list(launch, gather, &all) == TASKHOST_ESTALE);
  EXPECT(submit(launch, FIRST) == TASKHOST_OK);
  EXPECT(requests->launch_cancel(launch, SECOND) == TASKHOST_OK);
  EXPECT(submit(launch, SECOND) == TASKHOST_OK);
  EXPECT(requests->launch_cancel(launch, NULL) == TASKHOST_OK);
  EXPECT(requests->launch_list(launch, gather, &all) == TASKHOST_OK);
  EXPECT(all.failures == 0);
  api->launch_log(launch, TASKHOST_INFO, all.text);
#ifdef TOO_MANY
  for (int index = 4; index < 1000; index++) EXPECT(requests->launch_cancel(launch, NULL) == TASKHOST_OK);
  EXPECT(requests->launch_cancel(launch, NULL) == TASKHOST_ELIMIT);
  EXPECT(submit(launch, FIRST) == TASKHOST_ELIMIT);
#endif
  return TASKHOST_OK;
}
#endif

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit = 2;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  kept = launch;
  requests = api->extension(TASKHOST_EXTENSION_REQUESTS);
  more = api->extension(TASKHOST_EXTENSION_REQUESTS_2);
  if (!requests || !more) return TASKHOST_EUNSUPPORTED;
  taskhost_registration registration = {.struct_size = sizeof registration, .kind = TASKHOST_REFRESH, .identifier = FIRST,
    .handler = handle};
#ifdef AT_LAUNCH
  if (use(launch, 0) != TASKHOST_OK) return TASKHOST_EINTERNAL;
#endif
  taskhost_status status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
  registration.identifier = SECOND;
  registration.kind = TASKHOST_PROCESSING;
  status = api->register_handler(launch, &registration);
#ifdef AT_LAUNCH
  if (status == TASKHOST_OK) status = use(launch, 1);
#endif
  return status;
}
