/*
 * Reports what the sandbox denied. Linking this into an executable interposes functions of the C library, for the executable and for every
 * library it loads. Each makes the real call. If that fails although ordinary permissions allow it, it tells the observer of
 * CWorkerSandbox which entitlement would allow the call. Results and errno do not change.
 *
 * Safety does not depend on these functions: a direct system call is denied too, but silently. They only make the real call before the
 * process is confined, and in builds with a sanitizer, which interposes the same functions.
 */
#ifndef TASKHOST_DENIALS_H
#define TASKHOST_DENIALS_H

/*
 * Finds the real functions. Call it before the process is confined, while it has a single thread. The call also keeps the linker from
 * dropping the functions.
 */
void taskhost_denials_prepare(void);

#endif
