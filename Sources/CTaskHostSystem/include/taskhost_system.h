/*
 * The few system calls that Swift cannot reach by itself, because they are variadic or not in its Glibc module.
 * Each answers as the call it wraps: -1 and errno on failure.
 */
#ifndef TASKHOST_SYSTEM_H
#define TASKHOST_SYSTEM_H

/* How late the kernel may wake the calling thread, in nanoseconds (prctl PR_SET_TIMERSLACK; the default is 50,000). */
int taskhost_system_set_timer_slack(unsigned long nanoseconds);

/* A descriptor that poll finds readable once taskhost_system_event_set was called on it (eventfd; close-on-exec, non-blocking). */
int taskhost_system_event_create(void);
int taskhost_system_event_set(int descriptor);

/* Names the calling thread; the kernel keeps 15 bytes. */
int taskhost_system_set_thread_name(const char *name);

/* The path of the object that `address` was loaded from, owned by the dynamic loader; NULL if there is none (dladdr). */
const char *taskhost_system_object_of(const void *address);

#endif
