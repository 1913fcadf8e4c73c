/*
 * launch DIRECTORY - the raw limit of launching: loads every plugin of a directory in the order of names, finds its symbols and calls it.
 *
 * Prints "launched: N" when all are registered.
 */
#include "taskhost.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int registered;

static taskhost_status register_handler(taskhost_launch launch, const taskhost_registration *registration) {
  (void)launch;
  registered += registration->handler != NULL;
  return TASKHOST_OK;
}

static int is_plugin(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot != NULL && strcmp(dot, ".so") == 0;
}

int main(int count, char **arguments) {
  struct dirent **entries;
  const int found = count == 2 ? scandir(arguments[1], &entries, is_plugin, alphasort) : -1;
  if (found < 0) {
    fprintf(stderr, "usage: launch DIRECTORY\n");
    return 2;
  }
  const taskhost_api api = {.struct_size = sizeof api, .abi_version = TASKHOST_ABI_VERSION, .register_handler = register_handler};
  for (int index = 0; index < found; index++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", arguments[1], entries[index]->d_name);
    void *image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const uint32_t *version = image == NULL ? NULL : dlsym(image, "taskhost_plugin_abi_version");
    taskhost_status (*launch)(const taskhost_api *, taskhost_launch) = NULL;
    if (version != NULL) *(void **)&launch = dlsym(image, "taskhost_plugin_launch");
    if (version == NULL || *version != TASKHOST_ABI_VERSION || launch == NULL || launch(&api, 1) != TASKHOST_OK) {
      fprintf(stderr, "%s: not loaded\n", path);
      return 1;
    }
  }
  printf("launched: %d\n", registered);
  return 0;
}
