/*
 * System calls that Swift cannot call by itself, because they are variadic or missing from its Glibc module.
 * Each returns what the call it wraps returns: -1 with errno on failure.
 */
#ifndef TASKHOST_SYSTEM_H
#define TASKHOST_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Gives freed memory that the allocator keeps back to the system (malloc_trim). */
void taskhost_system_trim_memory(void);

/* How late the kernel may wake the calling thread, in nanoseconds (prctl PR_SET_TIMERSLACK; the default is 50,000). */
int taskhost_system_set_timer_slack(unsigned long nanoseconds);

/*
 * How long the calling thread runs before others get their turn, in nanoseconds (sched_setattr; the default is some 3 ms). Since Linux 6.12
 * a thread with a short slice runs soon after it wakes, even if other threads keep the core busy, and has no larger share of it.
 * Earlier kernels ignore it.
 */
int taskhost_system_set_time_slice(unsigned long nanoseconds);

/* A descriptor that poll finds readable once taskhost_system_event_set was called on it (eventfd; close-on-exec, non-blocking). */
int taskhost_system_event_create(void);
int taskhost_system_event_set(int descriptor);

/* A descriptor that poll finds readable once the boot clock has reached the time it was set to (timerfd on CLOCK_BOOTTIME, which goes on
 * while the machine is suspended; close-on-exec, non-blocking). A time that is over makes it readable at once. Setting it again makes it
 * unreadable; 0 disarms it. */
int taskhost_system_boot_timer_create(void);
int taskhost_system_boot_timer_set(int descriptor, long long nanoseconds);

/* Lets the kernel kill this process (SIGKILL) once the boot clock has reached that time. A later call moves the time. Returns
 * 0, or -1 with errno. One thread calls it. */
int taskhost_system_kill_at(long long nanoseconds);

/* Names the calling thread; the kernel keeps 15 bytes. */
int taskhost_system_set_thread_name(const char *name);

/* Opens `name` in `directory` as a reference (O_PATH, O_NOFOLLOW, close-on-exec): a link itself, not its target. */
int taskhost_system_open_place(int directory, const char *name);

/* The signal that no thread of the host blocks. It asks a hanging thread for its stack. */
int taskhost_system_stack_signal(void);

/* What identifies a file, and its size in bytes. */
typedef struct taskhost_system_file {
  uint64_t device, inode;
  int64_t size;
} taskhost_system_file;

/*
 * Looks at a path, itself if it is a link, without asking for its times (statx).
 * Since Linux 6.13 a file whose times were asked for gets exact new ones with the next write, and a sync then writes its inode too: on ext4
 * that makes a sync half as long again.
 */
int taskhost_system_look(const char *path, taskhost_system_file *file);

/* The path of the object that `address` was loaded from, owned by the dynamic loader; NULL if there is none (dladdr). */
const char *taskhost_system_object_of(const void *address);

/* A file in memory, close-on-exec, that can be sealed (memfd_create); `name` appears in /proc. Its content is never executed. */
int taskhost_system_memfd(const char *name);

/* Two connected message sockets (AF_UNIX, SOCK_SEQPACKET), close-on-exec, blocking. */
int taskhost_system_pair(int descriptors[2]);

/*
 * Receives a message and its descriptor, close-on-exec and owned by the caller; *descriptor is -1 if there is none. `flags` are those of
 * recvmsg. Discards a message that is larger than `capacity` or has several descriptors, closes them, and fails with EBADMSG.
 */
ssize_t taskhost_system_receive(int socket, void *bytes, size_t capacity, int *descriptor, int flags);

/* Makes standard output line-buffered. Call it before anything is printed. */
void taskhost_system_buffer_output_by_line(void);

/* Flushes standard output, unless another thread is printing. Never waits for it. */
void taskhost_system_flush_output(void);

#endif
