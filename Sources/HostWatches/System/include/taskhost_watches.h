/*
 * System calls of the watches that are missing from Swift's Glibc module.
 * Each answers as the call it wraps: -1 and errno on failure. All descriptors are close-on-exec and non-blocking.
 */
#ifndef TASKHOST_WATCHES_H
#define TASKHOST_WATCHES_H

#include <stddef.h>
#include <stdint.h>

/* A timer on the calendar (timerfd_create with CLOCK_REALTIME), not armed. */
int taskhost_watches_clock_create(void);

/*
 * Arms it for the end of time, and so that it is cancelled when the calendar is set (TFD_TIMER_CANCEL_ON_SET): a read answers ECANCELED
 * then. ECANCELED from here: it is armed, and the calendar was set meanwhile.
 */
int taskhost_watches_clock_arm(int timer);

/* A queue of events of files (inotify_init1). */
int taskhost_watches_files_create(void);

#endif
