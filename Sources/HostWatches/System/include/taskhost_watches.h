/*
 * System calls that Swift's Glibc module lacks.
 * Each returns -1 with errno on failure. All descriptors are close-on-exec and non-blocking.
 */
#ifndef TASKHOST_WATCHES_H
#define TASKHOST_WATCHES_H

#include <stddef.h>
#include <stdint.h>

/* Creates an unarmed timer on the calendar (timerfd_create with CLOCK_REALTIME). */
int taskhost_watches_clock_create(void);

/*
 * Arms the timer for the end of time. When the calendar is set, reads fail with ECANCELED (TFD_TIMER_CANCEL_ON_SET). ECANCELED from this
 * call: the timer is armed, and the calendar was set meanwhile.
 */
int taskhost_watches_clock_arm(int timer);

/* Creates an unarmed timer that wakes the machine from sleep (CLOCK_BOOTTIME_ALARM). EPERM without CAP_WAKE_ALARM. */
int taskhost_watches_wake_create(void);

/* Arms the timer for that many nanoseconds after the boot, suspends included; 0 disarms it. Not negative. */
int taskhost_watches_wake_arm(int timer, int64_t nanoseconds);

/* Nanoseconds until the timer expires; 0 if it is not armed. */
int64_t taskhost_watches_wake_left(int timer);

/* 1 if something keeps the calendar right, 0 if nothing does (adjtimex). */
int taskhost_watches_clock_kept(void);

/* Creates a queue of file events (inotify_init1). */
int taskhost_watches_files_create(void);

#endif
