/* chaos.c - a handler that shows whether a request has two owners at a time: it holds a lock that the kernel takes from it when it dies. */
#include "taskhost.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static const taskhost_api *host;
static const taskhost_fleet *fleet;
static char folder[256];
static int journal = -1;
/* One run of so many is longer than a lease. */
static unsigned rare = 50;

static void note(const char *what, const char *request, uint64_t token) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char line[160];
  const int length = snprintf(
      line, sizeof line, "%s %s %llu %lld\n", what, request, (unsigned long long)token, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
  if (write(journal, line, (size_t)length) != length) abort();
}

static taskhost_result run(taskhost_task task, void *context) {
  (void)context;
  const char *request = host->request_id(task);
  uint64_t token = 0;
  if (fleet != NULL) fleet->fencing_token(task, &token);
  char path[400];
  snprintf(path, sizeof path, "%s/locks/%s", folder, request);
  const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return TASKHOST_RETRY;
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) note("overlap", request, token);
  note("begun", request, token);
  /* Mostly some milliseconds. */
  const unsigned chance = (unsigned)token * 2654435761u ^ (unsigned)request[7] << 8 ^ (unsigned)request[12] ^ (unsigned)request[17] << 4;
  const long pause = chance % rare == 0 ? 2500 : 1 + chance % 20;
  const struct timespec time = {pause / 1000, pause % 1000 * 1000000};
  nanosleep(&time, NULL);
  note("ended", request, token);
  close(lock);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  fleet = api->extension(TASKHOST_EXTENSION_FLEET);
  const taskhost_registration registration = {
      .struct_size = sizeof registration, .kind = TASKHOST_PROCESSING, .identifier = "org.taskhost.chaos", .handler = run,
      .budget_ms = 60000, .max_concurrent_runs = 64};
  const taskhost_status status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
  const char *settings = api->configuration(launch);
  const char *member = settings == NULL ? NULL : strstr(settings, "\"folder\"");
  if (member == NULL || sscanf(member, "\"folder\" : \"%255[^\"]\"", folder) != 1) return TASKHOST_EINVAL;
  const char *share = strstr(settings, "\"long\"");
  if (share != NULL && (sscanf(share, "\"long\" : %u", &rare) != 1 || rare == 0)) return TASKHOST_EINVAL;
  char *to = folder;
  for (const char *from = folder; *from != 0; from++) {
    if (*from != '\\') *to++ = *from;
  }
  *to = 0;
  char path[300];
  snprintf(path, sizeof path, "%s/journal", folder);
  journal = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (journal < 0) return TASKHOST_EINVAL;
  return TASKHOST_OK;
}
