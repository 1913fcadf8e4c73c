/* Who is told of denials, and what has been told. Nothing here allocates: a denied call may come from anywhere. */
#define _GNU_SOURCE
#include "taskhost_sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SENTENCES = 64, MOST_PATHS = 512, PATH_BYTES = 64 << 10, LONGEST_PATH = 4096 };

static _Atomic(taskhost_sandbox_observer) current_observer;
static struct taskhost_sandbox_filter remembered;
static atomic_int confined_process; /* 0: none */
static _Atomic uint64_t told[MOST_SENTENCES]; /* hashes, filled from the front; 0: free */
static _Thread_local bool telling;

/* Written before there are other threads. */
static struct {
    enum taskhost_sandbox_owner owner;
    unsigned refusals; /* of TASKHOST_SANDBOX_RESERVED */
    const char *path;
} places[MOST_PATHS];
static size_t place_count;
static char path_bytes[PATH_BYTES];
static size_t path_bytes_used;

void taskhost_sandbox_observe(taskhost_sandbox_observer observer) {
    atomic_store(&current_observer, observer);
}

void taskhost_sandbox_remember(const struct taskhost_sandbox_filter *filter) {
    remembered = *filter;
    atomic_store(&confined_process, getpid());
}

static void remember(enum taskhost_sandbox_owner owner, unsigned refusals, const char *path) {
    size_t size = strlen(path) + 1;
    if (place_count == MOST_PATHS || size > sizeof path_bytes - path_bytes_used) return;
    char *copy = path_bytes + path_bytes_used;
    memcpy(copy, path, size);
    path_bytes_used += size;
    places[place_count].owner = owner;
    places[place_count].refusals = refusals;
    places[place_count++].path = copy;
}

void taskhost_sandbox_remember_path(enum taskhost_sandbox_owner owner, const char *path) { remember(owner, 0, path); }

void taskhost_sandbox_remember_reserved(const char *path, unsigned refusals) { remember(TASKHOST_SANDBOX_RESERVED, refusals, path); }

/* Without doubled slashes, `.` and `..`; false: it does not fit. */
static bool normalize(const char *path, char result[LONGEST_PATH]) {
    size_t length = 0;
    while (*path != 0) {
        path += strspn(path, "/");
        size_t step = strcspn(path, "/");
        if (step == 2 && path[0] == '.' && path[1] == '.') {
            while (length > 0 && result[--length] != '/') {}
        } else if (step > 0 && !(step == 1 && path[0] == '.')) {
            if (length + step + 2 > LONGEST_PATH) return false;
            result[length++] = '/';
            memcpy(result + length, path, step);
            length += step;
        }
        path += step;
    }
    if (length == 0) result[length++] = '/';
    result[length] = 0;
    return true;
}

/* Whether `path` is `folder` or below it. */
static bool is_in(const char *path, const char *folder) {
    size_t length = strlen(folder);
    if (length == 1) return true;
    return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

/* The bits of `refusals`, for reading; for writing three further up. */
enum { ABOVE = 1, SAME = 2, BELOW = 4 };

/* Which of the bits `path` has, seen from `place`; 0: it is elsewhere. */
static unsigned position(const char *path, const char *place) {
    if (is_in(path, place)) return strcmp(path, place) == 0 ? SAME : BELOW;
    return is_in(place, path) ? ABOVE : 0;
}

enum taskhost_sandbox_advice taskhost_sandbox_advice(const char *path, bool writing) {
    char normal[LONGEST_PATH];
    if (!normalize(path, normal)) return TASKHOST_SANDBOX_ENTITLEMENT;
    enum taskhost_sandbox_advice advice = TASKHOST_SANDBOX_ENTITLEMENT;
    bool in_reserved = false, around_own = false;
    for (size_t index = 0; index < place_count; index++) {
        unsigned found = position(normal, places[index].path), refused;
        switch (places[index].owner) {
        case TASKHOST_SANDBOX_LIBRARIES:
            if ((found & (SAME | BELOW)) != 0) return TASKHOST_SANDBOX_NOTHING;
            break;
        case TASKHOST_SANDBOX_PLUGINS:
            if ((found & (SAME | BELOW)) != 0) return TASKHOST_SANDBOX_NOTHING;
            if (found == ABOVE) around_own = true;
            break;
        case TASKHOST_SANDBOX_RESERVED:
            refused = found & (writing ? places[index].refusals >> 3 : places[index].refusals);
            if (refused == 0) break;
            if (found != ABOVE) in_reserved = true;
            /* A path below which reading is refused is the host's secret. */
            enum taskhost_sandbox_advice this_one =
                (places[index].refusals & BELOW) != 0 ? TASKHOST_SANDBOX_NEVER : TASKHOST_SANDBOX_RELIED_ON;
            if (this_one > advice) advice = this_one;
            break;
        }
    }
    return in_reserved && around_own ? TASKHOST_SANDBOX_AROUND : advice;
}

const struct taskhost_sandbox_filter *taskhost_sandbox_confinement(void) {
    int process = atomic_load(&confined_process);
    return process != 0 && process == getpid() ? &remembered : NULL;
}

/* FNV-1a, never 0. */
static uint64_t hash(const char *text) {
    uint64_t value = 0xcbf29ce484222325u;
    for (; *text != 0; text++) value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    return value == 0 ? 1 : value;
}

/* Whether this sentence is new and there is room for it; it then counts as reported. */
static bool first_time(const char *sentence) {
    uint64_t wanted = hash(sentence);
    for (size_t index = 0; index < MOST_SENTENCES; index++) {
        uint64_t seen = 0;
        if (atomic_compare_exchange_strong(&told[index], &seen, wanted)) return true;
        if (seen == wanted) return false;
    }
    return false;
}

void taskhost_sandbox_denied(const char *sentence) {
    taskhost_sandbox_observer observer = atomic_load(&current_observer);
    if (observer == NULL || telling) return;
    int error = errno;
    telling = true;
    if (first_time(sentence)) observer(sentence);
    telling = false;
    errno = error;
}
