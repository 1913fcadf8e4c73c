/*
 * A plugin that has files transferred. What a run does depends on its payload:
 *
 *   {"url" ... or {"items" ...    submits it as it is
 *   {"plain":PAYLOAD}             submits a request of org.taskhost.transfers, as may_submit allows
 *   {"take":"ID","with":PAYLOAD}  gives a request of org.taskhost.transfers this payload
 *   {"transfer" ...               the end of a transfer: the payload is the run's output
 *   "folder"                      the folder for transfers
 *   "write NAME TEXT"             writes a file in the folder;  "link NAME TARGET": makes a symlink there
 *   "read PATH"                   reads a file
 *   "list", "show ID"             the objects, as a list
 *   "cancel ID", "pause ID", "resume ID"
 *
 * The output of the others is {"status": N, "error": TEXT, "text": TEXT}.
 *
 * -DIDENTIFIER="..."
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "taskhost.h"

static const taskhost_api *api;
static const taskhost_transfers *transfers;

typedef struct {
  char text[60000];
  size_t length;
} collected;

static void collect(const char *json, size_t length, void *context) {
  collected *all = context;
  if (all->length + length + 2 >= sizeof all->text) return;
  if (all->length > 1) all->text[all->length++] = ',';
  memcpy(all->text + all->length, json, length);
  all->length += length;
}

static void answer(taskhost_task task, taskhost_status status, const char *text) {
  char error[1000] = "", output[8192];
  const char *said = status == TASKHOST_OK ? "" : api->last_error();
  size_t length = 0;
  for (; *said && length + 2 < sizeof error; said++) {
    if (*said == '"' || *said == '\\') error[length++] = '\\';
    error[length++] = *said;
  }
  error[length] = 0;
  int written = snprintf(output, sizeof output, "{\"status\":%d,\"error\":\"%s\",\"text\":\"%s\"}", (int)status, error, text);
  api->set_output(task, output, (size_t)written);
}

static taskhost_status submit(taskhost_task task, const char *payload, size_t length, char *id) {
  taskhost_submission submission = {.struct_size = sizeof submission};
  taskhost_request request = {.struct_size = sizeof request,
                              .identifier = "org.taskhost.transfers",
                              .conditions = TASKHOST_REQUIRES_NETWORK,
                              .payload = payload,
                              .payload_length = length};
  taskhost_status status = transfers->submit(task, &request, &submission);
  if (status == TASKHOST_OK) strcpy(id, submission.request_id);
  return status;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes;
  size_t length;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  const char *payload = bytes;
  char word[16] = "", first[2048] = "", rest[2048] = "", folder[4096] = "", path[8192];
  if (!strncmp(payload, "{\"transfer\"", 11)) {
    api->set_output(task, payload, length);
    return TASKHOST_SUCCESS;
  }
  int is_keyed = !strncmp(payload, "{\"keyed\":", 9);
  if (is_keyed || !strncmp(payload, "{\"plain\":", 9)) {
    taskhost_submission submission = {.struct_size = sizeof submission};
    taskhost_request request = {.struct_size = sizeof request,
                                .identifier = "org.taskhost.transfers",
                                .payload = payload + 9,
                                .payload_length = length - 10,
                                .unique_key = is_keyed ? "other/k" : NULL,
                                .on_conflict = is_keyed ? TASKHOST_CONFLICT_KEEP : TASKHOST_CONFLICT_NONE};
    taskhost_status status = api->submit(task, &request, &submission);
    answer(task, status, status == TASKHOST_OK ? submission.request_id : "");
    return TASKHOST_SUCCESS;
  }
  if (!strncmp(payload, "{\"take\":", 8) && length > 55) {
    const taskhost_requests_2 *requests = api->extension(TASKHOST_EXTENSION_REQUESTS_2);
    taskhost_request request = {.struct_size = sizeof request,
                                .identifier = "org.taskhost.transfers",
                                .payload = payload + 54,
                                .payload_length = length - 55};
    snprintf(first, sizeof first, "%.36s", payload + 9);
    answer(task, requests ? requests->update(task, first, &request, NULL) : TASKHOST_EUNSUPPORTED, "");
    return TASKHOST_SUCCESS;
  }
  if (payload[0] == '{') {
    char id[40] = "";
    taskhost_status status = submit(task, payload, length, id);
    answer(task, status, id);
    return TASKHOST_SUCCESS;
  }
  sscanf(payload, "\"%15[a-z] %2047[^ \"] %2047[^\"]", word, first, rest);
  size_t needed = 0;
  taskhost_status status = transfers->folder(task, folder, sizeof folder, &needed);
  if (!strcmp(word, "folder")) {
    char small[4];
    size_t again = 0;
    if (status == TASKHOST_OK && (transfers->folder(task, small, sizeof small, &again) != TASKHOST_ETOOBIG || again != needed))
      status = TASKHOST_EINTERNAL;
    answer(task, status, folder);
  } else if (!strcmp(word, "write") || !strcmp(word, "link")) {
    snprintf(path, sizeof path, "%s/%s", folder, first);
    int worked = 0;
    if (word[0] == 'l') {
      worked = symlink(rest, path) == 0;
    } else {
      int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      worked = file >= 0 && write(file, rest, strlen(rest)) == (ssize_t)strlen(rest);
      if (file >= 0) close(file);
    }
    answer(task, status, worked ? "done" : "failed");
  } else if (!strcmp(word, "read")) {
    char text[1000];
    int file = open(first, O_RDONLY);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (count >= 0) text[count] = 0;
    answer(task, TASKHOST_OK, count < 0 ? "denied" : text);
  } else if (!strcmp(word, "list") || !strcmp(word, "show")) {
    collected all = {.text = "[", .length = 1};
    status = word[0] == 'l' ? transfers->list(task, collect, &all) : transfers->show(task, first, collect, &all);
    if (status != TASKHOST_OK) {
      answer(task, status, "");
    } else {
      all.text[all.length++] = ']';
      api->set_output(task, all.text, all.length);
    }
  } else if (!strcmp(word, "cancel")) {
    answer(task, transfers->cancel(task, first), "");
  } else if (!strcmp(word, "pause")) {
    answer(task, transfers->pause(task, first), "");
  } else if (!strcmp(word, "resume")) {
    answer(task, transfers->resume(task, first), "");
  } else {
    return TASKHOST_FAILURE;
  }
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  transfers = api->extension(TASKHOST_EXTENSION_TRANSFERS);
  if (!transfers) return TASKHOST_EUNSUPPORTED;
  taskhost_registration registration = {
      .struct_size = sizeof registration, .kind = TASKHOST_REFRESH, .identifier = IDENTIFIER, .handler = handle, .max_concurrent_runs = 4};
  return api->register_handler(launch, &registration);
}
