/* Functions of the C library that start programs or reach other processes. vfork cannot be wrapped: its child returns into the caller. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "denials.h"

#if DENIALS_OFF

void denials_prepare_processes(void) {}

#else

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#define FUNCTIONS(X) \
    X(fork) X(execve) X(execv) X(execvp) X(posix_spawn) X(posix_spawnp) X(system) X(popen) X(kill) X(ptrace)
INTERPOSE(processes)

/* After a failed fork or the like, which left `errno` set. */
static void forked(const char *verb) {
    const struct taskhost_sandbox_filter *confined = denials_suspect(EPERM, EPERM);
    if (confined != NULL && !confined->execution) denials_tell("denied: %s: set entitlements.exec = true", verb);
}

/* After a failed attempt to start the program at `path`, which left `errno` set. */
static void executed(const char *path) {
    int error = errno;
    const struct taskhost_sandbox_filter *confined = denials_suspect(EPERM, EACCES);
    if (confined == NULL || path == NULL) return;
    char text[DENIALS_PATH];
    if (error == EPERM && !confined->execution) {
        denials_tell("denied: start %s: set entitlements.exec = true", path);
    } else if (error == EACCES && confined->execution && denials_permitted(AT_FDCWD, path, X_OK)) {
        denials_tell("denied: start %s: entitlements.exec is for programs in the system's folders", denials_absolute(AT_FDCWD, path, text));
    }
    errno = error;
}

EXPORTED pid_t fork(void) {
    pid_t result = REAL(fork)();
    if (result < 0) forked("fork");
    return result;
}

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[]) {
    int result = REAL(execve)(path, arguments, environment);
    executed(path);
    return result;
}

EXPORTED int execv(const char *path, char *const arguments[]) {
    int result = REAL(execv)(path, arguments);
    executed(path);
    return result;
}

EXPORTED int execvp(const char *file, char *const arguments[]) {
    int result = REAL(execvp)(file, arguments);
    executed(file);
    return result;
}

/* They return the error instead of setting errno. */
static void spawned(int result, const char *path) {
    if (result == 0) return;
    int error = errno;
    errno = result;
    executed(path);
    errno = error;
}

EXPORTED int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    int result = REAL(posix_spawn)(process, path, actions, attributes, arguments, environment);
    spawned(result, path);
    return result;
}

EXPORTED int posix_spawnp(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    int result = REAL(posix_spawnp)(process, file, actions, attributes, arguments, environment);
    spawned(result, file);
    return result;
}

EXPORTED int system(const char *command) {
    int result = REAL(system)(command);
    /* It returns the result of a missing shell, and does not set errno. */
    const struct taskhost_sandbox_filter *confined = result == 0 || command == NULL ? NULL : taskhost_sandbox_confinement();
    if (confined != NULL && !confined->execution) denials_tell("denied: system: set entitlements.exec = true");
    return result;
}

EXPORTED FILE *popen(const char *command, const char *mode) {
    FILE *result = REAL(popen)(command, mode);
    if (result == NULL) forked("popen");
    return result;
}

EXPORTED int kill(pid_t process, int signal) {
    int result = REAL(kill)(process, signal);
    if (result < 0 && process != getpid() && denials_suspect(EPERM, EPERM) != NULL) {
        denials_tell("denied: a signal to process %d: no entitlement allows it", (int)process);
    }
    return result;
}

EXPORTED long ptrace(enum __ptrace_request request, ...) {
    va_list arguments;
    va_start(arguments, request);
    pid_t process = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);
    long result = REAL(ptrace)(request, process, address, data);
    if (result < 0 && denials_suspect(EPERM, EPERM) != NULL) denials_tell("denied: ptrace: no entitlement allows it");
    return result;
}

#endif
