/* Submits a transfer, and takes what it is told of its end for granted. */
#include "check_fixture.h"

#include <stdio.h>

#ifndef WELL_BEHAVED
static void visit(const char *json, size_t length, void *context) { (void)json, (void)length, (void)context; }
#endif

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *payload = NULL;
  size_t length = 0;
  host->payload(task, &payload, &length);
  char text[4096];
  snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), length > 0 ? (const char *)payload : "");
  if (strstr(text, "\"transfer\":") == NULL) {
    const taskhost_transfers *transfers = host->extension(TASKHOST_EXTENSION_TRANSFERS);
    const char order[] = "{\"url\": \"https://example.org/a\", \"to\": \"a\", \"notify\": true}";
    taskhost_request request;
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.identifier = "org.taskhost.transfers";
    request.payload = order;
    request.payload_length = sizeof order - 1;
    return transfers->submit(task, &request, NULL) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_RETRY;
  }
#ifdef WELL_BEHAVED
  return TASKHOST_SUCCESS;
#else
  /* WHAT=1: believes that every transfer is done. WHAT=2: believes that every report is one of its own. */
  if (WHAT == 1 && strstr(text, "\"state\":\"done\"") == NULL) abort();
  if (WHAT == 2) {
    const char *id = strstr(text, "\"transfer\":\"");
    char own[64];
    snprintf(own, sizeof own, "%.36s", id == NULL ? "" : id + 12);
    const taskhost_transfers *transfers = host->extension(TASKHOST_EXTENSION_TRANSFERS);
    if (transfers->show(task, own, visit, NULL) == TASKHOST_ENOTFOUND) abort();
  }
  return TASKHOST_SUCCESS;
#endif
}
