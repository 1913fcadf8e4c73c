/*
 * Names what the sandbox denied. Linking this into an executable puts functions of the same name before those of the C library, for the
 * executable and for every library it loads: each makes the real call, and when that failed although the ordinary permissions allow it,
 * tells the observer of CWorkerSandbox which entitlement would allow it. Results and errno stay as they were.
 *
 * Safety does not depend on these functions: a direct system call is denied too, but silently.
 * They do nothing but the real call until the process is confined, and in builds with a sanitizer, which interposes the same functions.
 */
#ifndef TASKHOST_DENIALS_H
#define TASKHOST_DENIALS_H

/*
 * Finds the real functions. Call it before the process is confined, while it has a single thread; it also keeps a linker from leaving the
 * functions out.
 */
void taskhost_denials_prepare(void);

#endif
