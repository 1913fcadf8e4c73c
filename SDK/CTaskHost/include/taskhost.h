/*
 * taskhost.h - the contract between taskhost and its plugins, ABI version 1.
 *
 * A plugin is one shared object (.so) that exports
 *
 *     const uint32_t  taskhost_plugin_abi_version;                       (required)
 *     taskhost_status taskhost_plugin_launch(const taskhost_api *, taskhost_launch);   (required)
 *     void            taskhost_plugin_shutdown(void);                    (optional)
 *     const uint32_t  taskhost_plugin_handler_limit;                     (optional; absent: 1)
 *     void            taskhost_plugin_serve_main_thread(void);           (optional)
 *
 * and registers, during taskhost_plugin_launch, one handler for one task identifier. It needs no
 * linking: it reaches everything that the host offers through the table of function pointers it is given.
 *
 * TRUST
 *   isolation = "process": the plugin runs in a worker process of its own. A crash, a hang, exit() or
 *     a memory blow-up costs that worker alone; the host kills it when time is up.
 *   isolation = "thread": the plugin runs inside the host and is trusted as much as the host. Threads
 *     cannot be killed: a handler that ignores its expiration is abandoned and the plugin suspended.
 *   The rules below are the same in both.
 *
 * AT LEAST ONCE
 *   A request may be run again after a crash, a lost worker, a retry or an expiration. Handlers must be
 *   idempotent. Use request_id() as the key: it stays the same over all attempts.
 *
 * THREADS
 *   taskhost_plugin_launch    called on a host thread, in a worker process on its main thread; one launch
 *                             at a time per process. It may be called more than once (probes, restarted
 *                             workers), must register the same each time, and does no I/O of consequence.
 *   the handler               called on a thread that serves this run alone, 8 MiB of stack, asynchronous
 *                             signals blocked, named after the identifier's last label.
 *   the expiration handler    called on a host thread that is not the run's, at most once per run.
 *   taskhost_plugin_shutdown  called once, when no run is live; 5 s.
 *   run-phase functions       may be called from any thread while the run is live, grace included.
 *   launch-phase functions    may be called from any thread until taskhost_plugin_launch returns.
 *
 * MEMORY
 *   Borrowed in, copied out: strings and bytes given to the host are copied before the call returns.
 *   What the host gives (payload, identifier, request_id) belongs to the host and is valid until the
 *   handler returns, even if the run was stopped by force meanwhile. configuration and data_directory are
 *   valid until taskhost_plugin_launch returns. Neither side frees what the other allocated.
 *
 * HANDLES
 *   A launch or task handle is a number, not a pointer; 0 is never valid. A call with a handle that is no
 *   longer valid, or never was, returns TASKHOST_ESTALE (launch: TASKHOST_ELAUNCHED) and changes nothing.
 *
 * A PLUGIN MUST NOT
 *   call exit, _exit or quick_exit; fork without exec; install signal handlers or change dispositions;
 *   change the working directory, umask, locale or credentials; let a C++ exception or a longjmp cross
 *   into the host; end its run's thread with pthread_exit; keep threads after taskhost_plugin_shutdown
 *   has returned. A plugin is a single file (no $ORIGIN: it may be loaded from a private copy) and is
 *   never unloaded while its process lives.
 *
 * STABILITY
 *   Names, numbers and meanings here are final. Every struct begins with struct_size, has no padding and
 *   only ever grows at its end. A struct larger than the reader knows is accepted when the extra bytes
 *   are zero, refused with TASKHOST_EUNSUPPORTED otherwise; struct_size 0, smaller than version 1's, or
 *   over 4096 is TASKHOST_EINVAL. Ask TASKHOST_HAS(api, field) before calling a function that a later
 *   header added.
 *
 * Plain C11, C++17-clean. LP64 only.
 */
#ifndef TASKHOST_H
#define TASKHOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI version this header describes: the value of taskhost_plugin_abi_version. */
#define TASKHOST_ABI_VERSION 1u

/* Put before the definitions a plugin exports, so that -fvisibility=hidden does not hide them. */
#if defined(__GNUC__)
#define TASKHOST_EXPORT __attribute__((visibility("default")))
#else
#define TASKHOST_EXPORT
#endif

/* Valid from the moment taskhost_plugin_launch is called until it returns. */
typedef uint64_t taskhost_launch;
/* A run: 16 bits of slot, 48 bits of run counter. Valid until the handler returns or the run is stopped by force. After
 * a run has expired, submit, cancel, list, cancel_identifier and cancel_all accept its handle until its grace would have
 * ended, even if its handler has returned: the work that it stopped may end later, and then submit its next request. */
typedef uint64_t taskhost_task;

typedef int32_t taskhost_status;
typedef int32_t taskhost_result;
typedef int32_t taskhost_kind;
typedef int32_t taskhost_stop_reason;
typedef int32_t taskhost_log_level;

/* taskhost_status: what a call returns. last_error() has a sentence for every one that is not OK. */
enum {
  TASKHOST_OK = 0,
  TASKHOST_EINVAL = -1,       /* an argument is malformed: NULL, out of range, a bad struct_size, unknown bits */
  TASKHOST_ELAUNCHED = -2,    /* launch is over: nothing can be registered any more, from any thread */
  TASKHOST_EEXISTS = -3,      /* the identifier belongs to another plugin, or already has a handler */
  TASKHOST_ENOTPERMITTED = -4, /* not in permitted_identifiers, may_submit or may_notify, or not entitled */
  TASKHOST_ESTALE = -5,       /* the run is over, or never was */
  TASKHOST_EEXPIRED = -6,     /* the run has expired */
  TASKHOST_ETOOBIG = -7,      /* over a limit in bytes; with a length argument: *length is what it needs */
  TASKHOST_ENOTFOUND = -8,    /* no such key, checkpoint or request */
  TASKHOST_EUNSUPPORTED = -9, /* this host does not offer that */
  TASKHOST_ELIMIT = -10,      /* a quota, cap or rate is used up */
  TASKHOST_EUNAVAILABLE = -11, /* the store is full or read-only, or the link to the host is lost */
  TASKHOST_EINTERNAL = -12    /* a defect in the host; please report it */
};

/* taskhost_result: what a handler returns. Any other value counts as FAILURE, with a message. */
enum {
  TASKHOST_SUCCESS = 0, /* done */
  TASKHOST_NOOP = 1,    /* there was nothing to do: a success that is recorded separately */
  TASKHOST_SNOOZE = 2,  /* more to do: run again soon (or after retry_after); costs no attempt, adds no backoff */
  TASKHOST_RETRY = 3,   /* a temporary failure: backoff, one attempt spent */
  TASKHOST_FAILURE = 4  /* a permanent failure: no retry, dependants fail */
};

/* taskhost_kind: decides the default budget and grace. The clock starts when the handler starts. */
enum {
  TASKHOST_REFRESH = 1,    /* budget 30 s, grace 5 s: short and frequent (BGAppRefreshTask) */
  TASKHOST_PROCESSING = 2, /* budget 10 min, grace 30 s: maintenance (BGProcessingTask) */
  TASKHOST_CONTINUED = 3   /* no budget; expires 60 s after `completed` last rose, grace 30 s: user-started work;
                            * one that is then stopped by force is not tried again */
};

/* taskhost_stop_reason: why a run was asked to stop. */
enum {
  TASKHOST_STOP_NONE = 0,       /* it was not */
  TASKHOST_STOP_BUDGET = 1,     /* its time budget is spent */
  TASKHOST_STOP_CANCELLED = 2,  /* its request was cancelled */
  TASKHOST_STOP_CONDITIONS = 3, /* a condition it requires was lost, or its request was paused */
  TASKHOST_STOP_DRAINING = 4,   /* the host is shutting down */
  TASKHOST_STOP_REPLACED = 5,   /* a newer request took its unique key */
  TASKHOST_STOP_STALLED = 6     /* continued: no progress for too long */
};

/* taskhost_log_level. */
enum {
  TASKHOST_TRACE = 0,
  TASKHOST_DEBUG = 1,
  TASKHOST_INFO = 2,
  TASKHOST_NOTICE = 3,
  TASKHOST_WARNING = 4,
  TASKHOST_ERROR = 5
};

/* Bits of taskhost_request.conditions. An unknown bit is TASKHOST_EINVAL. */
enum {
  TASKHOST_REQUIRES_NETWORK = 1,
  TASKHOST_REQUIRES_UNMETERED = 2,
  TASKHOST_REQUIRES_POWER = 4,
  TASKHOST_REQUIRES_IDLE = 8,
  TASKHOST_REQUIRES_BATTERY_NOT_LOW = 16,
  TASKHOST_REQUIRES_STORAGE_NOT_LOW = 32
};

/* A special taskhost_request.earliest_begin_unix_ms: minimum_interval of the host's configuration after the identifier's
 * last run began, or now if it has not run since the host was launched. It is for code that submits its own next request
 * without a time, which would otherwise run back to back. */
enum { TASKHOST_BEGIN_PACED = -1 };

/* taskhost_request.on_conflict: what to do when a live request of the identifier holds the unique key. */
enum {
  TASKHOST_CONFLICT_NONE = 0,    /* every submission creates a request */
  TASKHOST_CONFLICT_KEEP = 1,    /* keep the holder, even while it runs, and drop this one */
  TASKHOST_CONFLICT_REPLACE = 2, /* cancel the holder; this one starts only after a run of it has ended */
  TASKHOST_CONFLICT_UPDATE = 3,  /* keep the holder's id, give it this one's fields */
  TASKHOST_CONFLICT_APPEND = 4   /* run after the holder */
};

/* taskhost_submission.disposition: what a submission did. */
enum {
  TASKHOST_CREATED = 0,
  TASKHOST_KEPT = 1,
  TASKHOST_REPLACED = 2,
  TASKHOST_UPDATED = 3,
  TASKHOST_APPENDED = 4
};

/*
 * A launch handler: does the work of one run and returns its result. The return is the completion: a
 * handler may start threads of its own but returns only when they are done. `context` is the
 * registration's, passed through untouched.
 */
typedef taskhost_result (*taskhost_handler)(taskhost_task task, void *context);

/*
 * Called once when the run must end, with the reason; grace_ms() says how long the handler still has.
 * Runs on a host thread that is not the run's, possibly at the same time as the handler. It should
 * return promptly; if it never returns, the run's outcome is recorded all the same.
 */
typedef void (*taskhost_expiration_handler)(taskhost_task task, taskhost_stop_reason reason, void *context);

/* What register_handler takes. Copied before it returns. */
typedef struct taskhost_registration {
  uint32_t struct_size;      /* sizeof(taskhost_registration) */
  taskhost_kind kind;        /* TASKHOST_REFRESH, _PROCESSING or _CONTINUED */
  const char *identifier;    /* 1-128 of A-Z a-z 0-9 . _ -, the first a letter or digit */
  taskhost_handler handler;  /* NULL only with `signature` */
  void *context;             /* given to the handler; must stay valid while the process lives */
  const char *display_name;  /* optional, UTF-8, for people; at most 256 bytes */
  const char *version;       /* optional, UTF-8, the plugin's own version; at most 64 bytes */
  uint64_t budget_ms;        /* 0: the kind's. May shorten it; only the operator's configuration can lengthen it */
  uint32_t max_concurrent_runs; /* 0: 1. At most 1024 */
  uint32_t reserved;         /* 0 */
  const char *signature;     /* optional: typed handler through libffi, instead of `handler` */
  void (*function)(void);    /* the function `signature` describes */
} taskhost_registration;

/* taskhost_request.daylight_gap: a time of day that does not exist when clocks are set forward. */
enum {
  TASKHOST_GAP_SHIFT = 0, /* it moves by as much as the clocks: 02:30 becomes 03:30 */
  TASKHOST_GAP_SKIP = 1   /* it is left out that day */
};

/* taskhost_request.daylight_repeat: a time of day that comes twice when clocks are set back. */
enum {
  TASKHOST_REPEAT_FIRST = 0,
  TASKHOST_REPEAT_LAST = 1,
  TASKHOST_REPEAT_BOTH = 2
};

/* taskhost_request.missed: occurrences whose time passed while they could not run. */
enum {
  TASKHOST_MISSED_LATEST = 0, /* one run stands for all of them */
  TASKHOST_MISSED_SKIP = 1,   /* none of them runs */
  TASKHOST_MISSED_ALL = 2     /* the latest missed_limit of them run, one every missed_spread_ms */
};

/* taskhost_request.on_lost_condition: what its run does when a condition that it requires is lost. */
enum {
  TASKHOST_LOST_CONDITION_PRESET = 0, /* what the operator has set for the handler; by default STOP */
  TASKHOST_LOST_CONDITION_STOP = 1,   /* it expires with TASKHOST_STOP_CONDITIONS, and the request waits again */
  TASKHOST_LOST_CONDITION_FINISH = 2  /* it goes on to its end */
};

/* taskhost_retry.backoff: how the delay grows with each attempt spent. */
enum {
  TASKHOST_BACKOFF_EXPONENTIAL = 0, /* initial_ms, doubled with each attempt */
  TASKHOST_BACKOFF_LINEAR = 1       /* initial_ms times the attempts */
};

/* taskhost_predecessor.on_failure: what becomes of a request whose predecessor fails or is cancelled. */
enum {
  TASKHOST_ON_FAILURE_FAIL = 0,  /* it ends in the same way */
  TASKHOST_ON_FAILURE_IGNORE = 1 /* it runs all the same */
};

/* How often and how soon a request is tried again. */
typedef struct taskhost_retry {
  uint32_t struct_size; /* sizeof(taskhost_retry) */
  uint32_t attempts;    /* before the request fails for good, 1-1,000; 0: 5 */
  uint32_t backoff;     /* TASKHOST_BACKOFF_ value */
  uint32_t reserved;    /* 0 */
  uint64_t initial_ms;  /* the first delay, 100 ms to 30 days; 0: 30 s */
  uint64_t maximum_ms;  /* the longest delay, at least initial_ms, at most 30 days; 0: 5 h */
} taskhost_retry;

/* A request that must end first: an element of an array, so it never grows. */
typedef struct taskhost_predecessor {
  const char *request; /* its id, of an identifier that the plugin may submit to */
  uint32_t on_failure; /* TASKHOST_ON_FAILURE_ value */
  uint32_t reserved;   /* 0 */
} taskhost_predecessor;

/* What a run takes of one of the operator's named resources: an element of an array, so it never grows. */
typedef struct taskhost_resource {
  const char *name; /* as in the host's configuration; 1-256 bytes of printable ASCII */
  uint64_t tokens;  /* 1-1,000,000 */
} taskhost_resource;

/*
 * What submit and launch_submit take. Copied, with everything that it points to, before they return.
 *
 * A member that is 0 or NULL says nothing, so set the ones you need in a struct that is otherwise zero. The members mean
 * what the fields of the same name in HTTP and the options of `taskhost submit` mean; Documentation/scheduling.md explains
 * them. EINVAL: a value is out of range, or two members contradict each other; last_error names the member. All texts are
 * UTF-8. A length of time is at most ten years.
 *
 * The members up to `reserved` are those of the first header. A host that knows only these answers EUNSUPPORTED if another
 * one is set, and takes the request otherwise.
 */
typedef struct taskhost_request {
  uint32_t struct_size;           /* sizeof(taskhost_request) */
  uint32_t conditions;            /* TASKHOST_REQUIRES_ bits */
  const char *identifier;         /* whose handler: the plugin's own identifier, or one in its may_submit */
  const void *payload;            /* bytes, JSON by convention; NULL with length 0 */
  uint64_t payload_length;        /* at most 65,536 */
  int64_t earliest_begin_unix_ms; /* not before, milliseconds since 1970; 0: now; or TASKHOST_BEGIN_PACED */
  const char *unique_key;         /* optional, within the identifier; 1-256 bytes */
  uint32_t on_conflict;           /* TASKHOST_CONFLICT_ value; needs unique_key unless NONE */
  uint32_t reserved;              /* 0 */

  /* ---- when it runs ---- */

  int64_t deadline_unix_ms;  /* from then on, of the conditions only network and power count, and no window or quota */
  uint64_t delay_ms;         /* not before this much time has passed, also while the machine sleeps; instead of
                              * earliest_begin_unix_ms */
  uint64_t every_ms;         /* repeats at this interval; the host raises it to its minimum_interval. In launch_submit, a
                              * request that repeats needs unique_key and on_conflict, or idempotency_key: the next launch
                              * submits it again */
  uint64_t flex_ms;          /* how much later than due a run may start, so that requests can share wake-ups */
  const char *cron;          /* repeats at the times of this expression: five fields, or @daily, ...; not with every_ms */
  const char *time_zone;     /* of cron, an IANA name; NULL: the machine's */
  uint32_t daylight_gap;     /* TASKHOST_GAP_ value; needs cron */
  uint32_t daylight_repeat;  /* TASKHOST_REPEAT_ value; needs cron */
  uint32_t missed;           /* TASKHOST_MISSED_ value; needs every_ms or cron */
  uint32_t missed_limit;     /* for MISSED_ALL, 1-10,000; 0: 10 */
  uint64_t missed_spread_ms; /* for MISSED_ALL; 0: one minute */
  const char *event;         /* runs when the host is notified of this event. Events are the whole host's: anyone who may
                              * notify it can wake the request, and a payload that comes with the event replaces its own in
                              * that run. A name does not begin with "file:" (EINVAL): see watch */
  uint64_t debounce_ms;      /* the time from the last event of a burst to the run; needs event or watch */
  uint32_t every_event;      /* 1: runs again at each event, 0: runs once; needs event or watch */

  /* ---- how it runs ---- */

  int32_t priority;                  /* -10 to 10, a higher one goes first */
  const taskhost_retry *retry;       /* NULL: what the operator has set */
  uint32_t on_lost_condition;        /* TASKHOST_LOST_CONDITION_ value */
  uint32_t after_count;              /* elements of after, at most 100 */
  const taskhost_predecessor *after; /* the requests that must end first. If the payloads are JSON, their outputs become a
                                      * part of this one's. Not for a request that repeats. EINVAL: there is none of an
                                      * identifier that the plugin may submit to */
  const char *const *tags;           /* for listing and cancelling; each 1-256 bytes */
  uint32_t tags_count;               /* elements of tags, at most 32 */
  uint32_t resources_count;          /* elements of resources, at most 16 */
  const taskhost_resource *resources; /* what its run takes of the operator's resources */
  const char *window;                /* the maintenance window it waits for, as in the host's configuration */
  const char *concurrency_key;       /* runs with the same key share the operator's limit; 1-256 bytes of printable ASCII */

  /* ---- how often it counts ---- */

  const char *idempotency_key; /* a second submission with this key does nothing and gets the first one's answer. The keys
                                * of a plugin are its own; at most 10,000 are on record, each as long as its request and
                                * the host's history: ELIMIT. 1-256 bytes */
  uint64_t unique_window_ms;   /* how long after the submission unique_key stays held, even if the request has ended */

  /* ---- the trace that it belongs to ---- */

  const char *traceparent; /* W3C Trace Context: its runs can continue that trace, see TASKHOST_EXTENSION_TRACE */

  /* ---- the file that it waits for; instead of event ---- */

  const char *watch; /* runs when this file or directory appears, changes or goes: an absolute path of at most 4,095 bytes, at
                      * or below the plugin's entitlements `read` and `write` or its data directory (ENOTPERMITTED). A change
                      * while the host does not run goes unnoticed: look once at launch */

  /* ---- so that not all hosts start at once ---- */

  uint64_t jitter_ms; /* starts later than each of its times by a share of this, which is fixed for the request on its host */

  /* ---- whether the machine is woken for it ---- */

  uint32_t wake;     /* 1: wakes a sleeping machine when it is due, where the host may and the machine can; else it runs once the
                      * machine is awake. ENOTPERMITTED without `may_wake` in the plugin's table (isolation = "thread" needs none) */
  uint32_t reserved2; /* 0 */

  /* ---- which hosts of a fleet get it first ---- */

  const char *prefer; /* a label of hosts, a host's name, or "last_host": others take it once it has been due for 5 s. Without effect
                       * for an identifier that hosts do not share; 1-256 bytes of printable ASCII */
} taskhost_request;

/* What submit returns. Set struct_size before the call. */
typedef struct taskhost_submission {
  uint32_t struct_size;       /* sizeof(taskhost_submission) */
  uint32_t disposition;       /* TASKHOST_CREATED ... TASKHOST_APPENDED */
  int64_t next_start_unix_ms; /* the effective earliest start, milliseconds since 1970 */
  char request_id[40];        /* NUL-terminated; the holder's id if it was kept or updated */
} taskhost_submission;

/*
 * The host's functions. The table is read-only memory and lives as long as the process.
 * Every function can also return EINVAL (bad arguments) and, in the run phase, ESTALE.
 */
typedef struct taskhost_api {
  uint32_t struct_size; /* of the host's table: see TASKHOST_HAS */
  uint32_t abi_version; /* TASKHOST_ABI_VERSION of the host */

  /* ---- launch phase: any thread, until taskhost_plugin_launch returns ---- */

  /* Registers the plugin's handler. EEXISTS: a second handler, or another plugin's identifier (the first in
   * file-name order keeps it). ENOTPERMITTED: not in permitted_identifiers. ELAUNCHED: launch is over. */
  taskhost_status (*register_handler)(taskhost_launch launch, const taskhost_registration *registration);
  /* The plugin's `settings` as a JSON object, "{}" if there are none; NULL before the identifier is known
   * (register first) and after launch. Valid until taskhost_plugin_launch returns. */
  const char *(*configuration)(taskhost_launch launch);
  /* The plugin's own writable folder, an absolute path; NULL before the identifier is known and after launch. */
  const char *(*data_directory)(taskhost_launch launch);
  /* Submits a request. The host commits it once after the launch has succeeded, and drops it in a probe.
   * ELAUNCHED, ENOTPERMITTED, ETOOBIG, EUNSUPPORTED. */
  taskhost_status (*launch_submit)(taskhost_launch launch, const taskhost_request *request);
  /* A line in the host's log. At most 8 KiB (cut and marked); control bytes are escaped. */
  taskhost_status (*launch_log)(taskhost_launch launch, taskhost_log_level level, const char *message);

  /* ---- run phase: any thread, while the run is live ---- */

  /* The request's payload. *bytes is never NULL and has a 0 byte after its end that *length does not count. */
  taskhost_status (*payload)(taskhost_task task, const void **bytes, size_t *length);
  /* The task identifier of the run. "" when stale, never NULL. */
  const char *(*identifier)(taskhost_task task);
  /* The request's id, the same over all its attempts. "" when stale, never NULL. */
  const char *(*request_id)(taskhost_task task);
  /* 1 on the first run, one more for each attempt spent. 0 when stale. */
  uint32_t (*attempt)(taskhost_task task);
  /* Milliseconds until expiration (continued: until the run would count as stalled), on the monotonic clock;
   * 0 or less in grace. INT64_MIN when stale. */
  int64_t (*remaining_ms)(taskhost_task task);
  /* Milliseconds until the run is stopped by force; before expiration, the whole grace it would get. 0 when stale. */
  int64_t (*grace_ms)(taskhost_task task);
  /* 1 once the run has expired, else 0. 1 when stale. */
  int32_t (*is_expired)(taskhost_task task);
  /* Why it expired; TASKHOST_STOP_NONE while it has not, and when stale. */
  taskhost_stop_reason (*stop_reason)(taskhost_task task);
  /* A descriptor that becomes readable once the run has expired. Poll it only: never read, never close it.
   * Valid until the handler returns. -1 when stale. */
  int (*expiration_fd)(taskhost_task task);
  /* Sets the expiration handler; a second one before expiration replaces the first. EEXPIRED: the run has
   * already expired and the handler will never be called. So it is either set, or you are told.
   * handler NULL clears it and waits for a call in progress (except from inside that call): OK means it
   * will never be called, EEXPIRED that it was called and has returned. So a context on the run's stack is
   * safe if you clear the handler before the run's handler returns. */
  taskhost_status (*set_expiration_handler)(taskhost_task task, taskhost_expiration_handler handler, void *context);
  /* Progress, for people and for stall detection. total 0: unknown. completed above total is recorded as total. */
  taskhost_status (*progress)(taskhost_task task, uint64_t completed, uint64_t total);
  /* A line in the run's log. At most 8 KiB (cut and marked); control bytes are escaped. If a run logs more
   * than 1,000 lines at once, or 100 a second for long, the host drops and counts lines; the call still returns OK. */
  taskhost_status (*log)(taskhost_task task, taskhost_log_level level, const char *message);
  /* The run's output, the last call wins; at most 65,536 bytes (ETOOBIG). NULL, 0 clears it. */
  taskhost_status (*set_output)(taskhost_task task, const void *bytes, size_t length);
  /* Why it failed or retries, a sentence for the operator; the last call wins. At most 8 KiB (cut and marked). */
  taskhost_status (*set_message)(taskhost_task task, const char *message);
  /* For RETRY and SNOOZE: the minimum delay from the run's end, in milliseconds, instead of the backoff. */
  taskhost_status (*retry_after)(taskhost_task task, uint64_t delay_ms);
  /* The host's wall clock, milliseconds since 1970; virtual under test. 0 when stale. */
  int64_t (*now_unix_ms)(taskhost_task task);
  /* Sleeps on the host's clock. Returns EEXPIRED at once when the run has expired, or as soon as it does. */
  taskhost_status (*sleep)(taskhost_task task, uint64_t ms);
  /* Reads a value of the identifier's durable state. ENOTFOUND: no such key. ETOOBIG: capacity is too small,
   * *length is what it needs and nothing was copied. buffer may be NULL with capacity 0. */
  taskhost_status (*state_get)(taskhost_task task, const char *key, void *buffer, size_t capacity, size_t *length);
  /* Writes a value; durable when it returns. NULL, 0 deletes. Key 1-256 bytes, value at most 1 MiB (ETOOBIG);
   * 10,000 keys and 64 MiB an identifier (ELIMIT). EUNAVAILABLE: not stored. */
  taskhost_status (*state_set)(taskhost_task task, const char *key, const void *bytes, size_t length);
  /* Reads the checkpoint of an earlier run of this request. ENOTFOUND: there is none. ETOOBIG as state_get. */
  taskhost_status (*checkpoint_get)(taskhost_task task, void *buffer, size_t capacity, size_t *length);
  /* Writes the checkpoint, at most 1 MiB; durable when it returns, deleted when the request ends. */
  taskhost_status (*checkpoint_set)(taskhost_task task, const void *bytes, size_t length);
  /* Submits a request; durable when it returns. submission may be NULL. ENOTPERMITTED: the identifier is
   * neither the plugin's own nor in its may_submit. ETOOBIG, ELIMIT, EUNSUPPORTED, EUNAVAILABLE. */
  taskhost_status (*submit)(taskhost_task task, const taskhost_request *request, taskhost_submission *submission);
  /* Cancels a request of an identifier that the plugin may submit to. ENOTFOUND: no such request, or it has ended. */
  taskhost_status (*cancel)(taskhost_task task, const char *request_id);

  /* ---- any time, any thread ---- */

  /* A sentence for this thread's last status that was not OK; "" if there was none. Valid until this thread's
   * next call of any function of this table. Never NULL. */
  const char *(*last_error)(void);
  /* A table of further functions, "org.taskhost.NAME/REV"; NULL where the host does not know it. Read-only memory
   * that lives as long as the process. This header describes TASKHOST_EXTENSION_REQUESTS,
   * TASKHOST_EXTENSION_REQUESTS_2, TASKHOST_EXTENSION_OPEN_FILES, TASKHOST_EXTENSION_RECORDS, TASKHOST_EXTENSION_TRACE,
   * TASKHOST_EXTENSION_ASSERTIONS, TASKHOST_EXTENSION_TRANSFERS, TASKHOST_EXTENSION_RESOURCES and
   * TASKHOST_EXTENSION_FLEET. */
  const void *(*extension)(const char *id);
} taskhost_api;

/* Whether the host's table has a function that this header names. */
#define TASKHOST_HAS(api, field) \
  ((api)->struct_size >= offsetof(taskhost_api, field) + sizeof((api)->field))

/* ---- extension org.taskhost.requests/1: a plugin's own pending requests ---- */

/* What extension() is asked for; the answer is a const taskhost_requests *. */
#define TASKHOST_EXTENSION_REQUESTS "org.taskhost.requests/1"

/* A request that waits for its run: not one that runs now, not one that has ended. */
typedef struct taskhost_pending_request {
  uint32_t struct_size;           /* sizeof(taskhost_pending_request) as the host knows it */
  uint32_t conditions;            /* TASKHOST_REQUIRES_ bits */
  int64_t earliest_begin_unix_ms; /* as it was submitted, milliseconds since 1970; 0: at once */
  int64_t next_start_unix_ms;     /* the effective earliest start: after a retry, later than that */
  uint32_t attempt;               /* 1 while it has not run yet */
  taskhost_kind kind;             /* of its identifier's handler */
  const char *identifier;         /* valid during the visit */
  const char *request_id;         /* valid during the visit */
  const void *payload;            /* valid during the visit; never NULL, with a 0 byte after its end */
  uint64_t payload_length;        /* does not count that byte */
} taskhost_pending_request;

/* Called for each pending request in turn, on the thread that lists them, before that call returns.
 * It may copy what it is shown, and must not call the host. */
typedef void (*taskhost_request_visitor)(const taskhost_pending_request *request, void *context);

/* The requests of all identifiers that the plugin has registered, from a run of any of them. The request of a `schedule`
 * in the configuration belongs to the operator: it is neither visited nor cancelled.
 * Every function can also return EINVAL, ESTALE (run phase), ELAUNCHED (launch phase) and EUNAVAILABLE. */
typedef struct taskhost_requests {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Visits the pending requests in the order of their submission, at most 1,000. They are read in parts: one that
   * begins, ends or is submitted during the call may be visited or not. */
  taskhost_status (*list)(taskhost_task task, taskhost_request_visitor visit, void *context);
  /* Cancels the pending requests of one of the plugin's identifiers; a run in progress goes on. *count (may be
   * NULL): how many. ENOTPERMITTED: not an identifier of this plugin. Durable when it returns. */
  taskhost_status (*cancel_identifier)(taskhost_task task, const char *identifier, uint64_t *count);
  /* As cancel_identifier, for all identifiers of the plugin. */
  taskhost_status (*cancel_all)(taskhost_task task, uint64_t *count);

  /* ---- launch phase: any thread, until taskhost_plugin_launch returns ---- */

  /* Visits the requests that were pending before this launch, whatever the launch itself submits or cancels. It visits
   * none until the host has settled that the identifiers belong to the plugin; then it launches a plugin that asked
   * once more. Of identifiers with scope = "fleet", it visits what waits in the fleet, whichever host has submitted it;
   * EUNAVAILABLE then also means that the fleet's database cannot be asked. ENOTPERMITTED: the plugin has not registered
   * yet. */
  taskhost_status (*launch_list)(taskhost_launch launch, taskhost_request_visitor visit, void *context);
  /* Cancels the pending requests of an identifier that the plugin has registered, NULL: of all of them. The host
   * carries it out after the launch has succeeded, in order with launch_submit, and drops it in a probe. In a fleet, it
   * does so once the database answers.
   * ENOTPERMITTED: not registered (yet). ELIMIT: more than 1,000 submissions and cancellations. */
  taskhost_status (*launch_cancel)(taskhost_launch launch, const char *identifier);
} taskhost_requests;

/* ---- extension org.taskhost.requests/2: requests in full, and events ---- */

/* What extension() is asked for; the answer is a const taskhost_requests_2 *. */
#define TASKHOST_EXTENSION_REQUESTS_2 "org.taskhost.requests/2"

/* Called for each JSON object of an answer in turn, on the thread that asked, before that call returns. The text has no line break
 * of its own, and a 0 byte after its end that `length` does not count. It is valid during the visit. */
typedef void (*taskhost_text_visitor)(const char *json, size_t length, void *context);

/* What a run can do beside org.taskhost.requests/1, which stays as it is. The objects have the members that the control socket gives
 * them (`taskhost tasks show ID --json`); members may be added. A plugin asks about its own identifiers and those of its may_submit;
 * others: ENOTPERMITTED. Of the latter, requests are shown without their payloads. The id of a request of any other identifier is
 * answered as one that is not on record: ENOTFOUND.
 * Each answer is read in parts of about 64 KiB, and plugins take turns for them: a long list delays its own plugin.
 * Every function can also return EINVAL, ESTALE and EUNAVAILABLE; those that visit ELIMIT (too many questions wait: ask again later)
 * and ETOOBIG (an object of more than 1 MiB). */
typedef struct taskhost_requests_2 {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Raises an event: the requests that wait for it become due, as after `taskhost notify`. `payload`, at most 65,536 bytes
   * (ETOOBIG), replaces the payload of the runs that it wakes; NULL, 0: each keeps its own. *waiting (may be NULL): how many
   * requests wait for the event; 0: nothing happened. A plugin may raise events named IDENTIFIER or IDENTIFIER.SOMETHING,
   * with an identifier of its own, and those of its may_notify. ENOTPERMITTED: any other, and the host's own (task:,
   * condition:, host:). Durable when it returns. */
  taskhost_status (*notify_event)(
      taskhost_task task, const char *event, const void *payload, size_t payload_length, uint64_t *waiting);

  /* Visits the live requests of an identifier (NULL: of all of the plugin's own, in their order) with all their fields, the newest
   * first, at most 1,000: blocked, pending and running ones, those of a `schedule` too. They are read in parts: one that changes
   * during the call may be visited or not. */
  taskhost_status (*list)(taskhost_task task, const char *identifier, taskhost_text_visitor visit, void *context);
  /* Visits one request, live or ended. ENOTFOUND: it is not on record. */
  taskhost_status (*show)(taskhost_task task, const char *request_id, taskhost_text_visitor visit, void *context);
  /* Visits the reasons why a request is not running, as `taskhost tasks why` says them. ENOTFOUND. It costs the host some
   * computing, so few of these are answered at a time. */
  taskhost_status (*why)(taskhost_task task, const char *request_id, taskhost_text_visitor visit, void *context);
  /* Visits the conditions of the machine: one object, with the array `conditions`. */
  taskhost_status (*conditions)(taskhost_task task, taskhost_text_visitor visit, void *context);
  /* Visits the last runs of an identifier that have ended and are still on record, the newest first, at most `limit` and 1,000,
   * without their outputs and logs. */
  taskhost_status (*runs)(
      taskhost_task task, const char *identifier, uint32_t limit, taskhost_text_visitor visit, void *context);
  /* Visits the last run of an identifier on record that succeeded, with or without something to do. ENOTFOUND: none did. */
  taskhost_status (*last_success)(taskhost_task task, const char *identifier, taskhost_text_visitor visit, void *context);
  /* Postpones a waiting request: it starts delay_ms from now at the earliest. It cannot start before its own time, and an occurrence
   * not after the next one. submission may be NULL; its disposition is TASKHOST_UPDATED. ENOTFOUND: no live request.
   * ENOTPERMITTED: the request of a `schedule`, which is the operator's. EINVAL: also one that runs, or waits for an event. */
  taskhost_status (*snooze)(
      taskhost_task task, const char *request_id, uint64_t delay_ms, taskhost_submission *submission);
  /* Replaces the fields of a live request with those of `request`, as a submission with its unique key and
   * TASKHOST_CONFLICT_UPDATE does: what `request` leaves out is as if it had been left out at first. The request keeps its
   * identifier, its unique and idempotency keys, its predecessors and its traceparent; a run in progress goes on unchanged. Statuses as snooze and
   * submit. Durable when it returns, like snooze. */
  taskhost_status (*update)(
      taskhost_task task, const char *request_id, const taskhost_request *request, taskhost_submission *submission);
} taskhost_requests_2;

/* ---- extension org.taskhost.open-files/1: who has a file open ---- */

/* What extension() is asked for; the answer is a const taskhost_open_files *. */
#define TASKHOST_EXTENSION_OPEN_FILES "org.taskhost.open-files/1"

/* Files of one question, and bytes of their paths together, at most. */
#define TASKHOST_OPEN_FILES_MAXIMUM 16384u
#define TASKHOST_OPEN_FILES_PATH_BYTES 2097152u

/* What is known of a file or directory. */
enum {
  TASKHOST_USE_UNKNOWN = 0, /* the host cannot tell: it may be open */
  TASKHOST_USE_OPEN = 1,    /* open, mapped, locked or run by a process, or a directory that a process is in */
  TASKHOST_USE_NOT_OPEN = 2 /* nobody had it open when the host looked */
};

/* A plugin's entitlement to a directory, as bits. */
enum { TASKHOST_ENTITLED_READ = 1, TASKHOST_ENTITLED_WRITE = 2 };

/* A file or directory that is asked about: an element of an array, so it never grows. */
typedef struct taskhost_file {
  uint64_t device;  /* st_dev */
  uint64_t inode;   /* st_ino */
  const char *path; /* relative to the question's directory, at most 4,095 bytes, any bytes but NUL; "." is the directory */
} taskhost_file;

/* A worker cannot see what other processes have open: its sandbox hides them. The host looks in its place.
 * It looks through /proc, which is complete if root runs the host in the machine's own process namespace. Any other host
 * asks the kernel for a lease on each file that it did not find open. That works for files that belong to the host's
 * user on a local file system; for other files, and for directories, the answer is UNKNOWN.
 * The host does not see descriptors on their way between processes or registered with io_uring, files that a file server
 * in the kernel has open, and other machines. An answer describes the moment of the look: the file may be opened before
 * you act on it.
 * Every function can also return EINVAL, ESTALE (run phase) and ELAUNCHED (launch phase). */
typedef struct taskhost_open_files {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* Run phase, any thread. Writes one of TASKHOST_USE_ to uses[i] for files[i]. `directory` is absolute, without
   * symlinks, at or below a path of the plugin's entitlements `read` or `write` or its data directory (isolation =
   * "thread": anywhere). If the path does not lead to the file, without symlinks and mount points, the answer is
   * NOT_OPEN or UNKNOWN: check that it is the same file before you act on it.
   * Blocks while the host looks. Ask about many files at once, because a look costs the same for one.
   * ENOTPERMITTED: not an entitled directory. ENOTFOUND: no such directory. ETOOBIG: too many files or bytes of paths.
   * ELIMIT: too many questions wait for an answer. EUNAVAILABLE: the host cannot look. */
  taskhost_status (*query)(
      taskhost_task task, const char *directory, const taskhost_file *files, size_t count, uint8_t *uses);
  /* Launch phase, any thread. Writes the plugin's entitlement to `directory`, which need not exist, to *entitled:
   * TASKHOST_ENTITLED_ bits, 0 for none. */
  taskhost_status (*launch_entitlement)(taskhost_launch launch, const char *directory, uint32_t *entitled);
} taskhost_open_files;

/* ---- extension org.taskhost.records/1: what a run has done, for its record ---- */

/* What extension() is asked for; the answer is a const taskhost_records *. */
#define TASKHOST_EXTENSION_RECORDS "org.taskhost.records/1"

/* Work that was done, as the plugin counts it. */
typedef struct taskhost_work {
  uint32_t struct_size;     /* sizeof(taskhost_work) */
  uint32_t reserved;        /* 0 */
  uint64_t items_attempted; /* begun, whatever became of them; recorded as at least completed and failed together */
  uint64_t items_completed; /* done */
  uint64_t items_failed;    /* given up */
  uint64_t bytes_in;        /* read or received */
  uint64_t bytes_out;       /* written or sent */
} taskhost_work;

/* What a run has done, beside its progress: both are kept with the run's record, and shown while it runs.
 * Every function can also return EINVAL and ESTALE. The calls are cheap: the host keeps the sums, and passes them on
 * a few times a second at most; the last ones come with the run's end. A run whose process dies keeps what was passed on. */
typedef struct taskhost_records {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Adds to what the run has done. A sum that would exceed UINT64_MAX stays there. Each run begins at zero, a retry too.
   * EUNSUPPORTED: a field that this host does not know. */
  taskhost_status (*work)(taskhost_task task, const taskhost_work *work);
  /* As progress() of the host's table, with words for people. `unit` is a plural such as "files", at most 32 bytes;
   * "bytes" are shown as sizes. `message` is what the run does now, at most 512 bytes. NULL keeps the last text, as
   * progress() does, "" removes it. Longer texts are cut and marked; control bytes are escaped. */
  taskhost_status (*progress)(
      taskhost_task task, uint64_t completed, uint64_t total, const char *unit, const char *message);
} taskhost_records;

/* ---- extension org.taskhost.trace/1: the trace that a run belongs to ---- */

/* What extension() is asked for; the answer is a const taskhost_trace *. */
#define TASKHOST_EXTENSION_TRACE "org.taskhost.trace/1"

/* Bytes of a traceparent with its 0 byte. */
#define TASKHOST_TRACEPARENT_SIZE 56

/* A request that was submitted with a traceparent (W3C Trace Context) gives one to each of its runs, which the run passes on to
 * what it calls. A host that sends traces gives one to every run. */
typedef struct taskhost_trace {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Writes the run's own traceparent, and to link (may be NULL) the submission's, if the run only links to it, else "". Both have
   * TASKHOST_TRACEPARENT_SIZE bytes. The first attempt of a request that does not repeat is a child in the submission's trace;
   * a retry, and each run of a request that repeats, is the root of a new trace, linked to the submission's.
   * ENOTFOUND: the request was submitted without a traceparent, and the host sends no traces. EINVAL, ESTALE. */
  taskhost_status (*current)(taskhost_task task, char *traceparent, char *link);

  /* Tells of a part of the run, from start to end in nanoseconds since 1970. If the host sends traces and this one is recorded,
   * it becomes a span inside the run's; if not, nothing happens, and the answer is OK as well. The host takes it with the end of
   * the run: one that is stopped by force or crashes loses it. `name` has 1 to 128 bytes. `attributes` is NULL, or a JSON object
   * of at most 1024 bytes; members that are no string, number or boolean are left out. `failed` is 1 if it failed, else 0.
   * Later than version 1: ask TASKHOST_HAS(table, span).
   * ELIMIT: the run has 128 already. EINVAL, ESTALE. */
  taskhost_status (*span)(
      taskhost_task task, const char *name, uint64_t start_unix_ns, uint64_t end_unix_ns, const char *attributes, uint32_t failed);
} taskhost_trace;

/* ---- extension org.taskhost.assertions/1: do not end me in the middle of this ---- */

/* What extension() is asked for; the answer is a const taskhost_assertions *. */
#define TASKHOST_EXTENSION_ASSERTIONS "org.taskhost.assertions/1"

/* An execution assertion of a run; 0 is never valid. Valid until it is ended, or the run is over. */
typedef uint64_t taskhost_assertion;

/*
 * Called once when the time of an assertion is over: the host no longer waits for it. Runs on a host thread that is not
 * the run's, possibly at the same time as the handler. Bring what must not be interrupted into a state from which a later
 * run can go on. The run itself goes on, and expires as always.
 */
typedef void (*taskhost_assertion_handler)(taskhost_task task, taskhost_assertion assertion, void *context);

/* What begin takes. Copied before it returns. */
typedef struct taskhost_assertion_request {
  uint32_t struct_size; /* sizeof(taskhost_assertion_request) */
  uint32_t reserved;    /* 0 */
  const char *name;     /* who holds it, for operators; 1-256 bytes of UTF-8 */
  const char *reason;   /* optional: why the host must not end now; 1-1,024 bytes of UTF-8 */
  uint64_t for_ms;      /* how long at most, on the monotonic clock, 1-600,000; 0: 30,000 */
  taskhost_assertion_handler expired; /* optional; not called after end() has returned, unless that was ESTALE */
  void *context;        /* given to `expired`; end() the assertion before the run ends, else a call may come after it */
} taskhost_assertion_request;

/* While a run holds an assertion, a host that shuts down does not ask it to stop: it does so once the assertion has ended.
 * The run's own budget, its cancellation and a lost condition are not affected, nor is an operator who stops the host by
 * force. An assertion ends when it is ended, at its time, and with its run, also if the worker process dies. One assertion
 * can stand for a whole queue of work. `taskhost status` shows who holds one, why, and for how long.
 * Every function can also return EINVAL and ESTALE. */
typedef struct taskhost_assertions {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Takes an assertion. EUNAVAILABLE: the host is shutting down already; do not begin what must not be interrupted.
   * ELIMIT: the handler's runs hold 32 already, or 1,000 are held in all. */
  taskhost_status (*begin)(taskhost_task task, const taskhost_assertion_request *request, taskhost_assertion *assertion);
  /* Milliseconds until it expires; 0 once it has. INT64_MIN if the run has no such assertion, and when stale. */
  int64_t (*remaining_ms)(taskhost_task task, taskhost_assertion assertion);
  /* Ends an assertion, and waits for a call of its `expired` in progress (except from inside that call). OK: `expired` will
   * never be called. EEXPIRED: it has expired, and `expired` has returned. So a context on the run's stack is safe if you
   * end the assertion before the run's handler returns. ENOTFOUND: the run has no such assertion. */
  taskhost_status (*end)(taskhost_task task, taskhost_assertion assertion);
} taskhost_assertions;

/* ---- extension org.taskhost.transfers/1: downloads and uploads that go on without the plugin ---- */

/* What extension() is asked for; the answer is a const taskhost_transfers *. */
#define TASKHOST_EXTENSION_TRANSFERS "org.taskhost.transfers/1"

/*
 * A transfer is a request of org.taskhost.transfers, the plugin that comes with the host. Its worker carries it out while no run of
 * yours is live, over restarts of the host and the machine. The operator allows it with `may_transfer = true` in your plugin's table,
 * and your own entitlement `network` has to cover the addresses.
 *
 * That worker reaches none of your files but those in your folder for transfers. A download arrives there, whole or not at all; move it
 * away (rename() within a file system). Put a file that is to be uploaded there first. The folder has no folders in it.
 *
 * The payload is a JSON object: one transfer, or a batch. Documentation/transfers.md has its members; here, "to" and "from" are names
 * of files in the folder (1-100 bytes, no slash, no dot at the beginning), "notify" is true or an identifier of yours with may_transfer:
 * its handler is run once when all transfers of the payload have ended: its payload is {"transfer": ID, "done": N, "failed": N, ...,
 * "items": [...]}. A file that is there is whole, also if a long report leaves it out. "context" of an item is yours: show() has it.
 * Every function can also return EINVAL, ESTALE, EUNAVAILABLE and ENOTPERMITTED (no may_transfer).
 */
typedef struct taskhost_transfers {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Writes the absolute path of the folder, with a 0 byte that *length counts. ETOOBIG as state_get. */
  taskhost_status (*folder)(taskhost_task task, char *buffer, size_t capacity, size_t *length);
  /* Submits a transfer: `identifier` is "org.taskhost.transfers". It has what every request has (conditions, deadline, priority,
   * retry, tags, ...), except `after`, `event` and TASKHOST_CONFLICT_APPEND (EINVAL); its unique key is within your plugin. A
   * condition that is lost stops it in mid-file until it holds again. ENOTPERMITTED: also an address, a bearer_token_file or a
   * notify that is not yours. Statuses otherwise as submit. Durable when it returns; submission may be NULL. */
  taskhost_status (*submit)(taskhost_task task, const taskhost_request *request, taskhost_submission *submission);
  /* Cancels a transfer of the plugin's: nothing remains of what has not arrived. ENOTFOUND: no live one, or another's. */
  taskhost_status (*cancel)(taskhost_task task, const char *request_id);
  /* Holds a transfer back until it is resumed, in mid-file too, without an attempt. ENOTFOUND as cancel. */
  taskhost_status (*pause)(taskhost_task task, const char *request_id);
  /* Ends the plugin's own pause of a transfer: it goes on unless an operator holds it back too. OK if it is not paused.
   * ENOTFOUND as cancel. */
  taskhost_status (*resume)(taskhost_task task, const char *request_id);
  /* Visits the plugin's live transfers, the newest first, at most 1,000, with the members of `taskhost transfers show ID --json`:
   * a request, its payload, and the report of its last run that has ended. */
  taskhost_status (*list)(taskhost_task task, taskhost_text_visitor visit, void *context);
  /* Visits one transfer of the plugin's, live or ended. ENOTFOUND: it is not on record, or another's. */
  taskhost_status (*show)(taskhost_task task, const char *request_id, taskhost_text_visitor visit, void *context);
} taskhost_transfers;

/* ---- extension org.taskhost.resources/1: the operator's named resources ---- */

/* What extension() is asked for; the answer is a const taskhost_resources *. */
#define TASKHOST_EXTENSION_RESOURCES "org.taskhost.resources/1"

/* Which of the resources that a request may name (taskhost_request.resources) there are. */
typedef struct taskhost_resources {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* Launch phase, any thread. Writes how many tokens of a resource the host has to *tokens; 0 if the configuration does not
   * name it. Also EINVAL and ELAUNCHED. */
  taskhost_status (*launch_tokens)(taskhost_launch launch, const char *name, uint64_t *tokens);
} taskhost_resources;

/* ---- extension org.taskhost.fleet/1: requests that many hosts share ---- */

/* What extension() is asked for; the answer is a const taskhost_fleet *. */
#define TASKHOST_EXTENSION_FLEET "org.taskhost.fleet/1"

/* What a run of a request that hosts share (scope = "fleet") can know of that. */
typedef struct taskhost_fleet {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */

  /* ---- run phase: any thread, while the run is live ---- */

  /* Writes the run's fencing token to *token: whichever host owns the request later gives its run a greater one. Pass it on with what
   * the run writes elsewhere, and let that place refuse a token that is less than one it has seen: then a run of a host that has lost
   * the request changes nothing there. The attempts of one request on one host may have the same token.
   * ENOTFOUND: the request is not a fleet's. EINVAL, ESTALE.
   * Source: M. Kleppmann, "How to do distributed locking" (2016). */
  taskhost_status (*fencing_token)(taskhost_task task, uint64_t *token);
} taskhost_fleet;

/* ---- what a plugin exports ---- */

/* Read before anything is called. Must equal TASKHOST_ABI_VERSION. */
extern TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version;
/* Optional: how many handlers this plugin registers; absent: 1. Read before anything is called. */
extern TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit;
/* Registers the handler. Anything but TASKHOST_OK refuses the plugin, with last_error() as the reason. */
TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch);
/* Optional: the process is about to end and no run is live. 5 s. */
TASKHOST_EXPORT void taskhost_plugin_shutdown(void);
/* Optional: serves the plugin's main queue and main run loop. Called once, in a worker process only, on its main
 * thread, after the launch; it does not return. The Swift SDK exports it. Without it, the worker calls CFRunLoopRun,
 * else dispatch_main, if the plugin or a library that it needs exports one. */
TASKHOST_EXPORT void taskhost_plugin_serve_main_thread(void);

/* ---- the note: what a plugin says of itself before any of its code runs ---- */

/*
 * Optional. With a note, the host knows which settings, isolation and limits apply without launching the plugin in a
 * probe first, and `taskhost plugins inspect` shows it. Write it once, at file scope, in one file of the plugin:
 *
 *     TASKHOST_PLUGIN_NOTE("org.example.hello", "refresh", 0, "1.0.0");
 *
 * identifier, kind ("refresh", "processing" or "continued") and version are string literals, budget_ms is a number.
 * All must be as registered, otherwise the plugin is refused. Without a registered version, use
 * TASKHOST_PLUGIN_NOTE_LINES. The note is data of the section .note.taskhost, which the linker keeps and strip leaves alone.
 */
#define TASKHOST_PLUGIN_NOTE(identifier, kind, budget_ms, version) \
  TASKHOST_PLUGIN_NOTE_LINES( \
      "identifier=" identifier "\nkind=" kind "\nbudget_ms=" TASKHOST_NOTE_TEXT(budget_ms) "\nversion=" version "\n")

/* As TASKHOST_PLUGIN_NOTE, with the swift= line: the version of the compiler that built the plugin, a string literal. */
#define TASKHOST_PLUGIN_NOTE_SWIFT(identifier, kind, budget_ms, version, swift) \
  TASKHOST_PLUGIN_NOTE_LINES( \
      "identifier=" identifier "\nkind=" kind "\nbudget_ms=" TASKHOST_NOTE_TEXT(budget_ms) "\nversion=" version "\nswift=" swift "\n")

/*
 * The lines as they are: identifier= is required; kind=, budget_ms=, version= and swift= are optional. So are up to 16 lines
 * asks=, each with what the plugin needs, as the operator would write it: "asks=network = [443]\n". They are shown to operators
 * and give nothing.
 */
#define TASKHOST_PLUGIN_NOTE_LINES(lines) \
  static const struct taskhost_plugin_note_record { \
    uint32_t owner_bytes, lines_bytes, type; \
    char owner[12], text[(sizeof("format=1\nabi=1\n" lines) + 3u) / 4u * 4u]; \
  } taskhost_plugin_note TASKHOST_NOTE_PLACE = { \
    9u, (uint32_t)sizeof("format=1\nabi=1\n" lines), TASKHOST_NOTE_TYPE, TASKHOST_NOTE_OWNER, "format=1\nabi=1\n" lines}

#define TASKHOST_NOTE_OWNER "taskhost"
#define TASKHOST_NOTE_TYPE 0x54480001u
#define TASKHOST_NOTE_TEXT(value) TASKHOST_NOTE_TEXT_OF(value)
#define TASKHOST_NOTE_TEXT_OF(value) #value
#if defined(__GNUC__)
#define TASKHOST_NOTE_PLACE __attribute__((section(".note.taskhost"), used, aligned(4)))
#else
#define TASKHOST_NOTE_PLACE
#endif

/* ---- the layout, asserted ---- */

#ifdef __cplusplus
#define TASKHOST_STATIC_ASSERT(condition, message) static_assert(condition, message)
#else
#define TASKHOST_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
#endif

TASKHOST_STATIC_ASSERT(sizeof(void *) == 8 && sizeof(size_t) == 8, "taskhost speaks LP64 only");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_registration) == 80, "taskhost_registration has no padding");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, identifier) == 8, "taskhost_registration.identifier");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, budget_ms) == 48, "taskhost_registration.budget_ms");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, signature) == 64, "taskhost_registration.signature");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_registration, function) == 72, "taskhost_registration.function");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_retry) == 32, "taskhost_retry has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_predecessor) == 16, "taskhost_predecessor has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_resource) == 16, "taskhost_resource has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_request) == 272, "taskhost_request has no padding");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, deadline_unix_ms) == 56, "version 1 of taskhost_request");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, identifier) == 8, "taskhost_request.identifier");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, earliest_begin_unix_ms) == 32, "taskhost_request.earliest_begin_unix_ms");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, on_conflict) == 48, "taskhost_request.on_conflict");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, missed_spread_ms) == 120, "taskhost_request.missed_spread_ms");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, retry) == 152, "taskhost_request.retry");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, tags) == 176, "taskhost_request.tags");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, unique_window_ms) == 224, "taskhost_request.unique_window_ms");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, traceparent) == 232, "taskhost_request.traceparent");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, watch) == 240, "taskhost_request.watch");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, jitter_ms) == 248, "taskhost_request.jitter_ms");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_request, wake) == 256, "taskhost_request.wake");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_submission) == 56, "taskhost_submission has no padding");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_submission, request_id) == 16, "taskhost_submission.request_id");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_api, register_handler) == 8, "taskhost_api.register_handler");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_api, payload) == 48, "taskhost_api.payload");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_api, extension) == 240, "taskhost_api.extension");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_api) == 248, "taskhost_api has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_pending_request) == 64, "taskhost_pending_request has no padding");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_pending_request, identifier) == 32, "taskhost_pending_request.identifier");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_requests) == 48, "taskhost_requests has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_requests_2) == 80, "taskhost_requests_2 has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_file) == 24, "taskhost_file has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_fleet) == 16, "taskhost_fleet has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_open_files) == 24, "taskhost_open_files has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_work) == 48, "taskhost_work has no padding");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_work, items_attempted) == 8, "taskhost_work.items_attempted");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_records) == 24, "taskhost_records has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_trace) == 24, "taskhost_trace has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_assertion_request) == 48, "taskhost_assertion_request has no padding");
TASKHOST_STATIC_ASSERT(offsetof(taskhost_assertion_request, for_ms) == 24, "taskhost_assertion_request.for_ms");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_assertions) == 32, "taskhost_assertions has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_transfers) == 64, "taskhost_transfers has no padding");
TASKHOST_STATIC_ASSERT(sizeof(taskhost_resources) == 16, "taskhost_resources has no padding");

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TASKHOST_H */
