/* Who is told of denials, and what has been told. Nothing here allocates: a denied call may come from anywhere. */
#define _GNU_SOURCE
#include "taskhost_sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { MOST_SENTENCES = 64 };

static _Atomic(taskhost_sandbox_observer) current_observer;
static struct taskhost_sandbox_filter remembered;
static atomic_int confined_process; /* 0: none */
static _Atomic uint64_t told[MOST_SENTENCES]; /* hashes, filled from the front; 0: free */
static _Thread_local bool telling;

void taskhost_sandbox_observe(taskhost_sandbox_observer observer) {
    atomic_store(&current_observer, observer);
}

void taskhost_sandbox_remember(const struct taskhost_sandbox_filter *filter) {
    remembered = *filter;
    atomic_store(&confined_process, getpid());
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

/* Whether this sentence is new and there is room for it; it is told from now on. */
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
