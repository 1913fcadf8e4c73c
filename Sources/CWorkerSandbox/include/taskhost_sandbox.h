/*
 * The system calls a worker confines itself with: limits, capabilities, Landlock, seccomp.
 * All are for a process with a single thread. Each answers 0, or a negative errno, unless it says otherwise; none takes ownership of what
 * it is given, and none keeps a pointer.
 */
#ifndef TASKHOST_SANDBOX_H
#define TASKHOST_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of the process, as setrlimit knows them. */
enum taskhost_sandbox_limit {
    TASKHOST_SANDBOX_DATA,          /* bytes of private writable memory */
    TASKHOST_SANDBOX_DESCRIPTORS,   /* open descriptors */
    TASKHOST_SANDBOX_FILE_SIZE,     /* bytes of one file; SIGXFSZ is ignored from then on, so that a write answers EFBIG */
    TASKHOST_SANDBOX_CORE,          /* bytes of a core file */
    TASKHOST_SANDBOX_LOCKED_MEMORY, /* bytes */
    TASKHOST_SANDBOX_REALTIME,      /* highest real-time priority */
};

/*
 * Sets the soft and the hard limit to `value`, or to the present hard limit where that is lower.
 * `granted` receives what was set.
 */
int taskhost_sandbox_set_limit(enum taskhost_sandbox_limit limit, uint64_t value, uint64_t *granted);

/* Whether this is a build with a sanitizer, whose shadow memory no limit on memory leaves room for. */
bool taskhost_sandbox_is_sanitized(void);

/* Gives up every capability: ambient, bounding, inheritable, permitted, effective. Nothing that is executed later gets one back. */
int taskhost_sandbox_drop_capabilities(void);

/* prctl PR_SET_NO_NEW_PRIVS. */
int taskhost_sandbox_no_new_privileges(void);

/* The Landlock ABI this kernel offers; 0: none, or switched off. Changes nothing. */
int taskhost_sandbox_landlock_abi(void);

/* Whether this kernel has seccomp filters. Changes nothing. */
bool taskhost_sandbox_has_seccomp(void);

/* A new ruleset that denies what is named here and not allowed by a rule: its descriptor (close-on-exec), or a negative errno. */
int taskhost_sandbox_landlock_create(uint64_t files, uint64_t ports, uint64_t scopes);

/* Opens a path for a rule (O_PATH, close-on-exec), links followed: a descriptor, or a negative errno. */
int taskhost_sandbox_open(const char *path);

/* The same, but -ELOOP where the path, or a folder on the way, is a link. */
int taskhost_sandbox_open_without_links(const char *path);

/* Allows `access` on what is open there and below it. On what is not a directory, rights that only directories have are left out. */
int taskhost_sandbox_landlock_allow(int ruleset, int descriptor, uint64_t access);

/* Allows `access` on a TCP port. */
int taskhost_sandbox_landlock_allow_port(int ruleset, uint64_t access, uint16_t port);

/* Closes what one of these functions opened. */
void taskhost_sandbox_close(int descriptor);

/* Applies the ruleset to the process. There is no way back. */
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
    int landlock_abi;   /* what Landlock lacks is made good here where that is possible */
    bool execution;     /* may start programs */
};

/* Applies the seccomp filter to the process. There is no way back. -ENOSYS: this kernel has none. */
int taskhost_sandbox_filter(const struct taskhost_sandbox_filter *filter);

/*
 * Denials. What is told of them is collected by interposed functions of the C library (target CWorkerDenials), which only a worker links;
 * in another program nothing is ever told.
 */

/* Called on any thread, inside the call that was denied, at most once for each sentence and at most 64 times. `sentence` lives as long as the call. */
typedef void (*taskhost_sandbox_observer)(const char *sentence);

/* Sets the observer of denials; NULL removes it. */
void taskhost_sandbox_observe(taskhost_sandbox_observer observer);

/* What the process was confined to: what the filter was made from. Remembered so that a denial can name what would allow it. */
void taskhost_sandbox_remember(const struct taskhost_sandbox_filter *filter);

/* The owner of a remembered path. */
enum taskhost_sandbox_owner {
    TASKHOST_SANDBOX_LIBRARIES, /* looked into by libraries on their own account: nothing is said of what is there, or below */
    TASKHOST_SANDBOX_PLUGINS,   /* the plugin's own folder: the same, and for the folders it is in, as far as these are the host's */
    TASKHOST_SANDBOX_RESERVED,  /* taskhost_sandbox_remember_reserved */
};

/* Remembers a path (absolute, without links) that a denial must not take for any other. Call it before there are other threads; 512 fit. */
void taskhost_sandbox_remember_path(enum taskhost_sandbox_owner owner, const char *path);

/*
 * The same of one that the host relies on. `refusals` are the entitlements that no configuration gives, added up: to read a folder that it is
 * in (1), itself (2), what is below (4); to write a folder that it is in (8), itself (16), what is below (32).
 */
void taskhost_sandbox_remember_reserved(const char *path, unsigned refusals);

/* What to say of a denied path. */
enum taskhost_sandbox_advice {
    TASKHOST_SANDBOX_ENTITLEMENT, /* which entitlement would allow it */
    TASKHOST_SANDBOX_RELIED_ON,   /* that none does, since the host relies on what is there */
    TASKHOST_SANDBOX_NEVER,       /* that none does, since it is the host's own */
    TASKHOST_SANDBOX_AROUND,      /* nothing: the host's, around the plugin's own folder; but no entitlement gives it */
    TASKHOST_SANDBOX_NOTHING,
};

/* What to say of an absolute path, whether it exists or not, where reading (or writing) it was denied. Any thread. */
enum taskhost_sandbox_advice taskhost_sandbox_advice(const char *path, bool writing);

/* What was remembered in this process; NULL: it is not confined, or is a child of the one that is. Any thread. */
const struct taskhost_sandbox_filter *taskhost_sandbox_confinement(void);

/* Tells the observer, unless it has been told this sentence. Keeps errno. Any thread. */
void taskhost_sandbox_denied(const char *sentence);

#endif
