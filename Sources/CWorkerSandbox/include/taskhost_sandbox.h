/*
 * The system calls by which a worker confines itself: limits, capabilities, Landlock, seccomp. All require a process with a single thread.
 * Each returns 0 or a negative errno, unless stated otherwise. None takes ownership of its arguments or keeps a pointer.
 */
#ifndef TASKHOST_SANDBOX_H
#define TASKHOST_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of the process (setrlimit). */
enum taskhost_sandbox_limit {
    TASKHOST_SANDBOX_DATA,          /* bytes of private writable memory */
    TASKHOST_SANDBOX_DESCRIPTORS,   /* open descriptors */
    TASKHOST_SANDBOX_FILE_SIZE,     /* bytes of one file; SIGXFSZ is ignored from then on, so that a write answers EFBIG */
    TASKHOST_SANDBOX_CORE,          /* bytes of a core file */
    TASKHOST_SANDBOX_LOCKED_MEMORY, /* bytes */
    TASKHOST_SANDBOX_REALTIME,      /* highest real-time priority */
    TASKHOST_SANDBOX_PENDING_SIGNALS, /* signals and timers of all processes of the user with which it gets more */
};

/*
 * Sets the soft and the hard limit to `value`, or to the current hard limit if that is lower.
 * `granted` receives what was set.
 */
int taskhost_sandbox_set_limit(enum taskhost_sandbox_limit limit, uint64_t value, uint64_t *granted);

/* Whether this is a build with a sanitizer, whose shadow memory exceeds any limit on memory. */
bool taskhost_sandbox_is_sanitized(void);

/* Gives up every capability: ambient, bounding, inheritable, permitted, effective. No program executed later regains one. */
int taskhost_sandbox_drop_capabilities(void);

/* prctl PR_SET_NO_NEW_PRIVS. */
int taskhost_sandbox_no_new_privileges(void);

/* The Landlock ABI of this kernel; 0 if there is none, or it is disabled. */
int taskhost_sandbox_landlock_abi(void);

/* Whether this kernel has seccomp filters. */
bool taskhost_sandbox_has_seccomp(void);

/* Creates a ruleset that denies the given access unless a rule allows it. Returns its descriptor (close-on-exec) or a negative errno. */
int taskhost_sandbox_landlock_create(uint64_t files, uint64_t ports, uint64_t scopes);

/* Opens a path for a rule (O_PATH, close-on-exec), following links. Returns a descriptor or a negative errno. */
int taskhost_sandbox_open(const char *path);

/* The same, but -ELOOP if the path or a folder on the way is a link. */
int taskhost_sandbox_open_without_links(const char *path);

/* Allows `access` on the open path and below it. If it is not a directory, omits the rights that only directories have. */
int taskhost_sandbox_landlock_allow(int ruleset, int descriptor, uint64_t access);

/* Allows `access` on a TCP port. */
int taskhost_sandbox_landlock_allow_port(int ruleset, uint64_t access, uint16_t port);

/* Closes a descriptor that one of these functions opened. */
void taskhost_sandbox_close(int descriptor);

/* Applies the ruleset to the process, irrevocably. */
int taskhost_sandbox_landlock_restrict(int ruleset);

/* The connections that the filter allows. */
enum taskhost_sandbox_network {
    TASKHOST_SANDBOX_NO_NETWORK,
    TASKHOST_SANDBOX_CONNECT, /* TCP and UDP */
    TASKHOST_SANDBOX_PORTS,   /* TCP alone; Landlock limits the ports */
};

/* What the seccomp filter depends on. */
struct taskhost_sandbox_filter {
    enum taskhost_sandbox_network network;
    int landlock_abi;   /* the filter makes up for what this ABI lacks, if possible */
    bool execution;     /* may start programs */
};

/* Applies the seccomp filter to the process, irrevocably. -ENOSYS if this kernel has none. */
int taskhost_sandbox_filter(const struct taskhost_sandbox_filter *filter);

/*
 * Denials. Interposed functions of the C library (target CWorkerDenials) report them. Only a worker links that target; other programs report
 * nothing.
 */

/* Called on any thread, inside the call that was denied, at most once for each sentence and at most 64 times. `sentence` lives as long as the call. */
typedef void (*taskhost_sandbox_observer)(const char *sentence);

/* Sets the observer of denials; NULL removes it. */
void taskhost_sandbox_observe(taskhost_sandbox_observer observer);

/* The confinement that the filter was made from, remembered so that a denial can name the entitlement that would allow the call. */
void taskhost_sandbox_remember(const struct taskhost_sandbox_filter *filter);

/* The owner of a remembered path. */
enum taskhost_sandbox_owner {
    TASKHOST_SANDBOX_LIBRARIES, /* libraries read it by themselves: denials here and below are not reported */
    TASKHOST_SANDBOX_PLUGINS,   /* the plugin's own folder: the same, and for the folders it is in, as far as these are the host's */
    TASKHOST_SANDBOX_RESERVED,  /* taskhost_sandbox_remember_reserved */
};

/* Remembers a path (absolute, without links) that denials must treat specially. Call it before there are other threads; 512 fit. */
void taskhost_sandbox_remember_path(enum taskhost_sandbox_owner owner, const char *path);

/*
 * The same for a path that the host relies on. `refusals` is the sum of the entitlements that no configuration may give: reading a folder
 * that contains it (1), itself (2), anything below (4); writing a folder that contains it (8), itself (16), anything below (32).
 */
void taskhost_sandbox_remember_reserved(const char *path, unsigned refusals);

/* The advice for a denied path. */
enum taskhost_sandbox_advice {
    TASKHOST_SANDBOX_ENTITLEMENT, /* which entitlement would allow it */
    TASKHOST_SANDBOX_RELIED_ON,   /* that none does, since the host relies on what is there */
    TASKHOST_SANDBOX_NEVER,       /* that none does, since it is the host's own */
    TASKHOST_SANDBOX_AROUND,      /* nothing: the host's, around the plugin's own folder; but no entitlement gives it */
    TASKHOST_SANDBOX_NOTHING,
};

/* The advice for an absolute path, existing or not, when reading (or writing) it was denied. Any thread. */
enum taskhost_sandbox_advice taskhost_sandbox_advice(const char *path, bool writing);

/* What was remembered in this process; NULL: it is not confined, or is a child of the one that is. Any thread. */
const struct taskhost_sandbox_filter *taskhost_sandbox_confinement(void);

/* Tells the observer, unless it has been told this sentence. Keeps errno. Any thread. */
void taskhost_sandbox_denied(const char *sentence);

#endif
