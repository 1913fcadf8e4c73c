#include "actions.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int outcome(long result) {
    return result < 0 ? errno : 0;
}

const char *part(const char *argument, int n) {
    static char buffers[8][512];
    for (int skipped = 0; skipped < n; skipped++) {
        argument = strchr(argument, ':');
        if (argument == NULL) return "";
        argument++;
    }
    size_t length = strcspn(argument, ":");
    if (length > 511) length = 511;
    memcpy(buffers[n], argument, length);
    buffers[n][length] = 0;
    return buffers[n];
}

long number(const char *argument, int n) {
    return (long)strtoul(part(argument, n), NULL, 0);
}

int probe_action(const char *name, const char *argument) {
    const struct action *const tables[] = {file_actions, network_actions, process_actions};
    for (int table = 0; table < 3; table++) {
        for (const struct action *action = tables[table]; action->name != NULL; action++) {
            if (strcmp(action->name, name) == 0) return action->run(argument);
        }
    }
    return -1;
}
