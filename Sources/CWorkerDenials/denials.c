#define _GNU_SOURCE
#include "denials.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
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

/* The folder of `path`, without resolving links. Returns false if it does not fit. */
static bool folder_of(const char *path, char *folder, size_t size) {
    size_t length = strlen(path);
    if (length == 0 || length >= size) return false;
    memcpy(folder, path, length + 1);
    while (length > 1 && folder[length - 1] == '/') folder[--length] = 0;
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        strcpy(folder, ".");
    } else {
        slash[slash == folder ? 1 : 0] = 0;
    }
    return true;
}

bool denials_permitted_in_folder(int directory, const char *path) {
    char folder[PATH_MAX];
    return folder_of(path, folder, sizeof folder) && denials_permitted(directory, folder, W_OK | X_OK);
}

void denials_folder(char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') path[--length] = 0;
    char *slash = strrchr(path, '/');
    if (slash != NULL) slash[slash == path ? 1 : 0] = 0;
}

/* Resolves the links in `path`, or in its folder if `folder` is true. Returns false if that is impossible. */
static bool resolve(int directory, const char *path, bool folder, char place[RESOLVED_PATH]) {
    if (folder) {
        if (!folder_of(path, place, RESOLVED_PATH)) return false;
        path = place;
    }
    /* Not by open, which is interposed here. */
    int descriptor = (int)syscall(SYS_openat, directory, path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return false;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, place, RESOLVED_PATH);
    syscall(SYS_close, descriptor);
    if (size <= 0 || size == RESOLVED_PATH || place[0] != '/') return false;
    place[size] = 0;
    return true;
}

enum taskhost_sandbox_advice denials_advice(int directory, const char *path, bool folder, bool writing) {
    char named[DENIALS_PATH], place[RESOLVED_PATH];
    denials_absolute(directory, path, named);
    if (taskhost_sandbox_advice(named, writing) == TASKHOST_SANDBOX_NOTHING) return TASKHOST_SANDBOX_NOTHING;
    if (folder) denials_folder(named);
    /* A link of the plugin can lead to the host's files. */
    return taskhost_sandbox_advice(resolve(directory, path, folder, place) ? place : named, writing);
}

void denials_tell_path(
    const char *verb, int directory, const char *path, const char *purpose, bool folder, bool writing, const char *advice) {
    char named[DENIALS_PATH];
    const char *answer = denials_answer(denials_advice(directory, path, folder, writing), advice);
    if (answer != NULL) denials_tell("denied: %s %s%s: %s", verb, denials_absolute(directory, path, named), purpose, answer);
}

const char *denials_answer(enum taskhost_sandbox_advice found, const char *advice) {
    switch (found) {
    case TASKHOST_SANDBOX_ENTITLEMENT: return advice;
    case TASKHOST_SANDBOX_RELIED_ON: return "the host relies on what is there: no entitlement allows it";
    case TASKHOST_SANDBOX_NEVER: return "the host's own files are there: no entitlement allows it";
    case TASKHOST_SANDBOX_AROUND:
    case TASKHOST_SANDBOX_NOTHING: break;
    }
    return NULL;
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
