/* Functions of the C library that open, make, move or remove files. Landlock answers EACCES, the seccomp filter EPERM. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "denials.h"

#if DENIALS_OFF

void denials_prepare_files(void) {}

#else

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Replacements of open in programs built with _FORTIFY_SOURCE, if the flags are not constant. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

#define FUNCTIONS(X) \
    X(open) X(open64) X(openat) X(openat64) X(__open_2) X(__open64_2) X(creat) X(creat64) X(fopen) X(fopen64) \
    X(freopen) X(freopen64) X(opendir) X(scandir) X(scandir64) X(scandirat) X(scandirat64) X(mkdir) X(mkdirat) X(mkfifo) X(symlink) X(unlink) X(unlinkat) X(rmdir) \
    X(remove) X(rename) X(renameat) X(renameat2) X(link) X(truncate) X(truncate64) X(chmod) X(fchmod) X(fchmodat) \
    X(chown)
INTERPOSE(files)

/* After a failed open. */
static void opened(int directory, const char *path, int flags) {
    int error = errno;
    const struct taskhost_sandbox_filter *confined = denials_suspect(EACCES, EPERM);
    if (confined == NULL || path == NULL) return;
    char text[DENIALS_PATH];
    bool writing = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    int mode = (flags & O_ACCMODE) == O_RDONLY ? R_OK : (flags & O_ACCMODE) == O_WRONLY ? W_OK : R_OK | W_OK;
    if (writing) mode |= W_OK;
    if (error == EPERM) {
        if (confined->landlock_abi < 3 && (flags & O_TRUNC) != 0) {
            denials_tell("denied: open %s for truncating: open it for writing too", denials_absolute(directory, path, text));
        }
    } else if (denials_permitted(directory, path, mode)) {
        denials_tell_path("open", directory, path, writing ? " for writing" : " for reading", false, writing,
            writing ? "add it to entitlements.write" : "add it to entitlements.read");
    } else if (errno == ENOENT && (flags & O_CREAT) != 0 && denials_permitted_in_folder(directory, path)) {
        denials_tell_path("create", directory, path, "", true, true, "add its folder to entitlements.write");
    }
    errno = error;
}

/* After a failed call that creates or removes an entry of a folder, named by `verb`. */
static void changed(const char *verb, int directory, const char *path) {
    int error = errno;
    if (denials_suspect(EACCES, EACCES) == NULL || path == NULL) return;
    if (denials_permitted_in_folder(directory, path)) {
        denials_tell_path(verb, directory, path, "", true, true, "add its folder to entitlements.write");
    }
    errno = error;
}

/* After a failed call that moves or links `from` to `to`: both folders would need an entitlement. */
static void moved(const char *verb, int from_directory, const char *from, int to_directory, const char *to) {
    int error = errno;
    if (denials_suspect(EACCES, EACCES) == NULL || from == NULL || to == NULL) return;
    if (denials_permitted_in_folder(from_directory, from) && denials_permitted_in_folder(to_directory, to)) {
        enum taskhost_sandbox_advice worst = TASKHOST_SANDBOX_ENTITLEMENT;
        for (int index = 0; index < 2; index++) {
            enum taskhost_sandbox_advice found =
                index == 0 ? denials_advice(from_directory, from, true, true) : denials_advice(to_directory, to, true, true);
            /* Only the host creates entries around the plugin's own folder; inside it, the other path is the denied one. */
            if (found == TASKHOST_SANDBOX_AROUND) found = TASKHOST_SANDBOX_NEVER;
            if (found != TASKHOST_SANDBOX_NOTHING && found > worst) worst = found;
        }
        char text[DENIALS_PATH], target[DENIALS_PATH];
        denials_tell("denied: %s %s to %s: %s", verb, denials_absolute(from_directory, from, text),
            denials_absolute(to_directory, to, target), denials_answer(worst, "add the folders of both to entitlements.write"));
    }
    errno = error;
}

/* After a failed call that truncates by path. */
static void truncated(const char *path) {
    int error = errno;
    const struct taskhost_sandbox_filter *confined = denials_suspect(EACCES, EPERM);
    if (confined == NULL || path == NULL) return;
    char text[DENIALS_PATH];
    if (denials_permitted(AT_FDCWD, path, W_OK)) {
        if (error == EACCES) {
            denials_tell_path("truncate", AT_FDCWD, path, "", false, true, "add it to entitlements.write");
        } else if (confined->landlock_abi < 3) {
            denials_tell("denied: truncate %s by its path: this kernel cannot confine that; open it and use ftruncate",
                denials_absolute(AT_FDCWD, path, text));
        }
    }
    errno = error;
}

/* The mode bits that no plugin may set. */
enum { REFUSED_MODES = S_ISUID | S_ISGID | S_IWGRP | S_IWOTH };
static const char refused_modes[] = "no entitlement allows setuid, setgid, or writing by the group or others";

/* Whether the caller owns the file, so that ordinary permissions allow the change. */
static bool is_owned(int directory, const char *path) {
    struct stat status;
    return fstatat(directory, path, &status, 0) == 0 && status.st_uid == geteuid();
}

/* After a failed chmod. */
static void mode_changed(int directory, const char *path) {
    int error = errno;
    if (denials_suspect(EPERM, EPERM) == NULL || path == NULL) return;
    char text[DENIALS_PATH];
    if (is_owned(directory, path)) {
        denials_tell("denied: chmod %s: no entitlement allows it by path: give the mode when the file is made, or use fchmod on the open file",
            denials_absolute(directory, path, text));
    }
    errno = error;
}

/* After a failed chown. */
static void owner_changed(const char *path) {
    int error = errno;
    if (denials_suspect(EPERM, EPERM) == NULL || path == NULL) return;
    char text[DENIALS_PATH];
    if (is_owned(AT_FDCWD, path)) denials_tell("denied: chown %s: no entitlement allows it", denials_absolute(AT_FDCWD, path, text));
    errno = error;
}

/*
 * After a failed open for reading: if the path is the file of a thread of this process, opens the same file below /proc/self/task, which the
 * sandbox allows. libdispatch opens /proc/THREAD/stat of its threads when its queues are overloaded, and ends the process (SIGILL) if that
 * fails. Returns -1 and keeps errno for any other file.
 */
static int open_of_own_thread(const char *path, int flags) {
    static const char root[] = "/proc/";
    int error = errno;
    if (denials_suspect(EACCES, EACCES) == NULL || path == NULL || (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY) return -1;
    char text[64];
    size_t digits = strncmp(path, root, sizeof root - 1) == 0 ? strspn(path + sizeof root - 1, "0123456789") : 0;
    int length = snprintf(text, sizeof text, "/proc/self/task/%s", path + (digits > 0 ? sizeof root - 1 : 0));
    int result = -1;
    if (digits > 0 && path[sizeof root - 1 + digits] == '/' && strstr(path, "..") == NULL && length < (int)sizeof text) {
        result = REAL(openat)(AT_FDCWD, text, flags);
    }
    if (result < 0) errno = error;
    return result;
}

/* The third argument of open, which is present only if the flags require it. */
#define MODE_ARGUMENT(flags, mode)                                     \
    mode_t mode = 0;                                                   \
    if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list arguments;                                             \
        va_start(arguments, flags);                                    \
        mode = va_arg(arguments, mode_t);                              \
        va_end(arguments);                                             \
    }

EXPORTED int open(const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    int result = REAL(open)(path, flags, mode);
    if (result < 0) result = open_of_own_thread(path, flags);
    if (result < 0) opened(AT_FDCWD, path, flags);
    return result;
}

EXPORTED int open64(const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    int result = REAL(open64)(path, flags, mode);
    if (result < 0) result = open_of_own_thread(path, flags);
    if (result < 0) opened(AT_FDCWD, path, flags);
    return result;
}

EXPORTED int openat(int directory, const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    int result = REAL(openat)(directory, path, flags, mode);
    if (result < 0) result = open_of_own_thread(path, flags);
    if (result < 0) opened(directory, path, flags);
    return result;
}

EXPORTED int openat64(int directory, const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    int result = REAL(openat64)(directory, path, flags, mode);
    if (result < 0) result = open_of_own_thread(path, flags);
    if (result < 0) opened(directory, path, flags);
    return result;
}

EXPORTED int __open_2(const char *path, int flags) {
    int result = REAL(__open_2)(path, flags);
    if (result < 0) result = open_of_own_thread(path, flags);
    if (result < 0) opened(AT_FDCWD, path, flags);
    return result;
}

EXPORTED int __open64_2(const char *path, int flags) {
    int result = REAL(__open64_2)(path, flags);
    if (result < 0) result = open_of_own_thread(path, flags);
    if (result < 0) opened(AT_FDCWD, path, flags);
    return result;
}

EXPORTED int creat(const char *path, mode_t mode) {
    int result = REAL(creat)(path, mode);
    if (result < 0) opened(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC);
    return result;
}

EXPORTED int creat64(const char *path, mode_t mode) {
    int result = REAL(creat64)(path, mode);
    if (result < 0) opened(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC);
    return result;
}

/* The flags of open that correspond to fopen's `mode`. */
static int flags_of(const char *mode) {
    int access = strchr(mode, '+') != NULL ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    return access | (mode[0] == 'r' ? 0 : O_CREAT) | (mode[0] == 'w' ? O_TRUNC : 0);
}

EXPORTED FILE *fopen(const char *path, const char *mode) {
    FILE *result = REAL(fopen)(path, mode);
    if (result == NULL) opened(AT_FDCWD, path, flags_of(mode));
    return result;
}

EXPORTED FILE *fopen64(const char *path, const char *mode) {
    FILE *result = REAL(fopen64)(path, mode);
    if (result == NULL) opened(AT_FDCWD, path, flags_of(mode));
    return result;
}

EXPORTED FILE *freopen(const char *path, const char *mode, FILE *stream) {
    FILE *result = REAL(freopen)(path, mode, stream);
    if (result == NULL) opened(AT_FDCWD, path, flags_of(mode));
    return result;
}

EXPORTED FILE *freopen64(const char *path, const char *mode, FILE *stream) {
    FILE *result = REAL(freopen64)(path, mode, stream);
    if (result == NULL) opened(AT_FDCWD, path, flags_of(mode));
    return result;
}

EXPORTED DIR *opendir(const char *path) {
    DIR *result = REAL(opendir)(path);
    if (result == NULL) opened(AT_FDCWD, path, O_RDONLY);
    return result;
}

/* They open the folder inside the C library, where that call cannot be interposed. */
#define SCAN(name, entry)                                                                                                     \
    EXPORTED int name(const char *path, struct entry ***list, int (*wanted)(const struct entry *),                           \
        int (*order)(const struct entry **, const struct entry **)) {                                                        \
        int result = REAL(name)(path, list, wanted, order);                                                                   \
        if (result < 0) opened(AT_FDCWD, path, O_RDONLY);                                                                     \
        return result;                                                                                                        \
    }
#define SCAN_AT(name, entry)                                                                                                  \
    EXPORTED int name(int directory, const char *path, struct entry ***list, int (*wanted)(const struct entry *),            \
        int (*order)(const struct entry **, const struct entry **)) {                                                        \
        int result = REAL(name)(directory, path, list, wanted, order);                                                        \
        if (result < 0) opened(directory, path, O_RDONLY);                                                                    \
        return result;                                                                                                        \
    }
SCAN(scandir, dirent)
SCAN(scandir64, dirent64)
SCAN_AT(scandirat, dirent)
SCAN_AT(scandirat64, dirent64)

EXPORTED int mkdir(const char *path, mode_t mode) {
    int result = REAL(mkdir)(path, mode);
    if (result < 0) changed("make the folder", AT_FDCWD, path);
    return result;
}

EXPORTED int mkdirat(int directory, const char *path, mode_t mode) {
    int result = REAL(mkdirat)(directory, path, mode);
    if (result < 0) changed("make the folder", directory, path);
    return result;
}

EXPORTED int mkfifo(const char *path, mode_t mode) {
    int result = REAL(mkfifo)(path, mode);
    if (result < 0) changed("make the FIFO", AT_FDCWD, path);
    return result;
}

EXPORTED int symlink(const char *target, const char *path) {
    int result = REAL(symlink)(target, path);
    if (result < 0) changed("make the link", AT_FDCWD, path);
    return result;
}

EXPORTED int unlink(const char *path) {
    int result = REAL(unlink)(path);
    if (result < 0) changed("remove", AT_FDCWD, path);
    return result;
}

EXPORTED int unlinkat(int directory, const char *path, int flags) {
    int result = REAL(unlinkat)(directory, path, flags);
    if (result < 0) changed("remove", directory, path);
    return result;
}

EXPORTED int rmdir(const char *path) {
    int result = REAL(rmdir)(path);
    if (result < 0) changed("remove", AT_FDCWD, path);
    return result;
}

EXPORTED int remove(const char *path) {
    int result = REAL(remove)(path);
    if (result < 0) changed("remove", AT_FDCWD, path);
    return result;
}

EXPORTED int rename(const char *from, const char *to) {
    int result = REAL(rename)(from, to);
    if (result < 0) moved("move", AT_FDCWD, from, AT_FDCWD, to);
    return result;
}

EXPORTED int renameat(int from_directory, const char *from, int to_directory, const char *to) {
    int result = REAL(renameat)(from_directory, from, to_directory, to);
    if (result < 0) moved("move", from_directory, from, to_directory, to);
    return result;
}

EXPORTED int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    int result = REAL(renameat2)(from_directory, from, to_directory, to, flags);
    if (result < 0) moved("move", from_directory, from, to_directory, to);
    return result;
}

EXPORTED int link(const char *from, const char *to) {
    int result = REAL(link)(from, to);
    if (result < 0) moved("link", AT_FDCWD, from, AT_FDCWD, to);
    return result;
}

EXPORTED int truncate(const char *path, off_t length) {
    int result = REAL(truncate)(path, length);
    if (result < 0) truncated(path);
    return result;
}

EXPORTED int truncate64(const char *path, off64_t length) {
    int result = REAL(truncate64)(path, length);
    if (result < 0) truncated(path);
    return result;
}

EXPORTED int chmod(const char *path, mode_t mode) {
    int result = REAL(chmod)(path, mode);
    if (result < 0) mode_changed(AT_FDCWD, path);
    return result;
}

EXPORTED int fchmodat(int directory, const char *path, mode_t mode, int flags) {
    int result = REAL(fchmodat)(directory, path, mode, flags);
    if (result < 0) mode_changed(directory, path);
    return result;
}

EXPORTED int fchmod(int descriptor, mode_t mode) {
    int result = REAL(fchmod)(descriptor, mode);
    if (result < 0 && (mode & REFUSED_MODES) != 0 && denials_suspect(EPERM, EPERM) != NULL) {
        denials_tell("denied: fchmod to %04o: %s", (unsigned)mode, refused_modes);
    }
    return result;
}

EXPORTED int chown(const char *path, uid_t owner, gid_t group) {
    int result = REAL(chown)(path, owner, group);
    if (result < 0) owner_changed(path);
    return result;
}

#endif
