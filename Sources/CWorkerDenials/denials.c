#define _GNU_SOURCE
#include "denials.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void taskhost_denials_prepare(void) {
    denials_prepare_files();
    denials_prepare_network();
    denials_prepare_processes();
}

void *denials_real(_Atomic(void *) *place, const char *name) {
    void *function = atomic_load_explicit(place, memory_order_relaxed);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(place, function, memory_order_relaxed);
    }
    return function;
}

const struct taskhost_sandbox_filter *denials_suspect(int one, int other) {
    int error = errno;
    if (error != one && error != other) return NULL;
    return taskhost_sandbox_confinement();
}

const char *denials_absolute(int directory, const char *path, char buffer[DENIALS_PATH]) {
    buffer[0] = 0;
    if (path[0] != '/') {
        size_t length = 0;
        if (directory == AT_FDCWD) {
            if (getcwd(buffer, DENIALS_PATH) != NULL) length = strlen(buffer);
        } else {
            char link[40];
            snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
            ssize_t size = readlink(link, buffer, DENIALS_PATH - 1);
            if (size > 0) length = (size_t)size;
        }
        buffer[length] = 0;
        if (length > 0 && buffer[length - 1] != '/' && length + 1 < DENIALS_PATH) strcat(buffer, "/");
    }
    strncat(buffer, path, DENIALS_PATH - 1 - strlen(buffer));
    return buffer;
}

bool denials_permitted(int directory, const char *path, int mode) {
    return faccessat(directory, path, mode, AT_EACCESS) == 0;
}

bool denials_permitted_in_folder(int directory, const char *path) {
    char folder[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof folder) return false;
    memcpy(folder, path, length + 1);
    while (length > 1 && folder[length - 1] == '/') folder[--length] = 0;
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        strcpy(folder, ".");
    } else {
        slash[slash == folder ? 1 : 0] = 0;
    }
    return denials_permitted(directory, folder, W_OK | X_OK);
}

void denials_folder(char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') path[--length] = 0;
    char *slash = strrchr(path, '/');
    if (slash != NULL) slash[slash == path ? 1 : 0] = 0;
}

void denials_tell_path(const char *verb, const char *path, const char *purpose, bool folder, const char *advice) {
    char named[DENIALS_PATH];
    snprintf(named, sizeof named, "%s", path);
    if (taskhost_sandbox_advice(named) == TASKHOST_SANDBOX_NOTHING) return;
    if (folder) denials_folder(named);
    switch (taskhost_sandbox_advice(named)) {
    case TASKHOST_SANDBOX_ENTITLEMENT: denials_tell("denied: %s %s%s: %s", verb, path, purpose, advice); break;
    case TASKHOST_SANDBOX_NEVER:
        denials_tell("denied: %s %s%s: the host's own files are there: no entitlement allows it", verb, path, purpose);
        break;
    case TASKHOST_SANDBOX_NOTHING: break;
    }
}

void denials_tell(const char *format, ...) {
    int error = errno;
    char sentence[DENIALS_SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    taskhost_sandbox_denied(sentence);
    errno = error;
}
