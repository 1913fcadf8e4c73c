/* Files. */
#define _GNU_SOURCE
#include "actions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

static int closing(int descriptor) {
    if (descriptor < 0) return errno;
    close(descriptor);
    return 0;
}

static int read_file(const char *path) {
    char byte;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno;
    int result = outcome(read(descriptor, &byte, 1));
    close(descriptor);
    return result;
}

static int read_stream(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) return errno;
    int result = fgetc(file) == EOF && ferror(file) ? errno : 0;
    fclose(file);
    return result;
}

/* A thread that tells its number and waits for a byte. */
static void *wait_in_thread(void *ends) {
    const int *pipes = ends;
    pid_t number = gettid();
    char byte;
    if (write(pipes[1], &number, sizeof number) == sizeof number && read(pipes[2], &byte, 1) < 0) return NULL;
    return NULL;
}

/* Reads a file of /proc/THREAD, the thread being another one of this process: as libdispatch looks after its threads. */
static int read_of_thread(const char *name) {
    int pipes[4];
    if (pipe(pipes) != 0 || pipe(pipes + 2) != 0) return errno;
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_in_thread, pipes) != 0) return EAGAIN;
    pid_t number = 0;
    int result = outcome(read(pipes[0], &number, sizeof number));
    if (result == 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/%s", number, name);
        result = read_file(path);
    }
    result = write(pipes[3], "x", 1) == 1 ? result : errno;
    pthread_join(thread, NULL);
    for (int index = 0; index < 4; index++) close(pipes[index]);
    return result;
}

static int list(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL) return errno;
    int result = readdir(folder) == NULL ? ENOENT : 0;
    closedir(folder);
    return result;
}

static int write_file(const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return errno;
    int result = outcome(write(descriptor, "x", 1));
    close(descriptor);
    return result;
}

static int make_folder(const char *path) { return outcome(mkdir(path, 0700)); }
static int remove_file(const char *path) { return outcome(unlink(path)); }
static int remove_folder(const char *path) { return outcome(rmdir(path)); }
static int move(const char *both) { return outcome(rename(part(both, 0), part(both, 1))); }
static int hard_link(const char *both) { return outcome(link(part(both, 0), part(both, 1))); }
static int soft_link(const char *both) { return outcome(symlink(part(both, 0), part(both, 1))); }
static int make_fifo(const char *path) { return outcome(mkfifo(path, 0600)); }
static int make_device(const char *path) { return outcome(mknod(path, S_IFCHR | 0600, makedev(1, 3))); }
static int make_disk(const char *path) { return outcome(mknod(path, S_IFBLK | 0600, makedev(7, 0))); }
static int truncate_path(const char *path) { return outcome(truncate(path, 0)); }
static int open_reading_truncating(const char *path) { return closing(open(path, O_RDONLY | O_TRUNC)); }
static int open_neither_truncating(const char *path) { return closing((int)syscall(SYS_openat, AT_FDCWD, path, O_ACCMODE | O_TRUNC, 0)); }
static int open_writing_truncating(const char *path) { return closing(open(path, O_WRONLY | O_TRUNC)); }
static int special_unnamed_file(const char *folder) { return closing(open(folder, O_TMPFILE | O_RDWR, 04755)); }
static int unnamed_file(const char *folder) { return closing(open(folder, O_TMPFILE | O_RDWR, 0600)); }
static int change_mode(const char *path) { return outcome(chmod(path, 0640)); }
static int change_owner(const char *path) { return outcome(chown(path, getuid(), getgid())); }
static int set_attribute(const char *path) { return outcome(setxattr(path, "user.probe", "1", 1, 0)); }
static int set_times(const char *path) { return outcome(utimes(path, NULL)); }
static int set_times_at(const char *path) { return outcome(utimensat(AT_FDCWD, path, NULL, 0)); }

static int truncate_open(const char *path) {
    int descriptor = open(path, O_RDWR);
    if (descriptor < 0) return errno;
    int result = outcome(ftruncate(descriptor, 0));
    close(descriptor);
    return result;
}

static int change_open_mode(const char *path) {
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno;
    int result = outcome(fchmod(descriptor, 0640));
    close(descriptor);
    return result;
}

/* PATH:MODE, each way to give a file a mode; 0: none worked, else EEXIST. */
static int special_mode(const char *argument) {
    const char *path = part(argument, 0);
    mode_t mode = (mode_t)number(argument, 1);
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno;
    bool worked = fchmod(descriptor, mode) == 0 || chmod(path, mode) == 0 || fchmodat(AT_FDCWD, path, mode, 0) == 0;
    close(descriptor);
    char made[600];
    snprintf(made, sizeof made, "%s.made", path);
    worked = worked || open(made, O_CREAT | O_WRONLY, mode) >= 0 || creat(made, mode) >= 0 || mknod(made, S_IFREG | mode, 0) == 0;
    return worked ? EEXIST : 0;
}

/* PATH:MODE, each way to change the mode of a file that is there; 0: none worked, else EEXIST. */
static int widen(const char *argument) {
    const char *path = part(argument, 0);
    mode_t mode = (mode_t)number(argument, 1);
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno;
    bool worked = fchmod(descriptor, mode) == 0 || chmod(path, mode) == 0 || fchmodat(AT_FDCWD, path, mode, 0) == 0 ||
        syscall(452 /* fchmodat2 */, AT_FDCWD, path, mode, 0) == 0;
    close(descriptor);
    return worked ? EEXIST : 0;
}

/* PATH:MODE, every call that changes what a folder says of a file, by its path; 0: none worked, else EEXIST. */
static int alter(const char *argument) {
    const char *path = part(argument, 0);
    mode_t mode = (mode_t)number(argument, 1);
    struct timespec times[2] = {{1, 0}, {1, 0}};
    struct timeval old_times[2] = {{1, 0}, {1, 0}};
    bool worked = chmod(path, mode) == 0;
    worked |= fchmodat(AT_FDCWD, path, mode, 0) == 0;
    worked |= fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) == 0;
    worked |= syscall(452 /* fchmodat2 */, AT_FDCWD, path, mode, 0) == 0;
    worked |= chown(path, getuid(), getgid()) == 0;
    worked |= lchown(path, getuid(), getgid()) == 0;
    worked |= fchownat(AT_FDCWD, path, getuid(), getgid(), 0) == 0;
    worked |= utimensat(AT_FDCWD, path, times, 0) == 0;
    worked |= utimes(path, old_times) == 0;
    worked |= futimesat(AT_FDCWD, path, old_times) == 0;
    worked |= setxattr(path, "user.probe", "1", 1, 0) == 0;
    worked |= lsetxattr(path, "user.probe", "1", 1, 0) == 0;
    int place = open(path, O_PATH);
    if (place >= 0) {
        char again[40];
        snprintf(again, sizeof again, "/proc/self/fd/%d", place);
        worked |= fchmod(place, mode) == 0 || chmod(again, mode) == 0;
        worked |= syscall(452 /* fchmodat2 */, place, "", mode, AT_EMPTY_PATH) == 0;
        worked |= fchownat(place, "", getuid(), getgid(), AT_EMPTY_PATH) == 0;
        worked |= utimensat(place, "", times, AT_EMPTY_PATH) == 0;
        close(place);
    }
    return worked ? EEXIST : 0;
}

/* PATH:COMMAND, an ioctl with no argument on a descriptor for reading. */
static int command(const char *argument) {
    int descriptor = open(part(argument, 0), O_RDONLY);
    if (descriptor < 0) return errno;
    int result = outcome(syscall(SYS_ioctl, descriptor, number(argument, 1), 0));
    close(descriptor);
    return result;
}

static int scan(const char *path) {
    struct dirent **found = NULL;
    return outcome(scandir(path, &found, NULL, alphasort));
}

static int set_open_times(const char *path) {
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno;
    int result = outcome(futimens(descriptor, NULL));
    close(descriptor);
    return result;
}

/* Asks a device for a block size, which only disks have: ENOTTY says that the device was asked. */
static int control_device(const char *path) {
    int size, descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno;
    int result = outcome(ioctl(descriptor, 0x1268, &size));
    close(descriptor);
    return result;
}

/* A library's pages: the file readable, its mapping executable. */
static int map_executable(const char *path) {
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return errno;
    void *place = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0);
    int result = place == MAP_FAILED ? errno : 0;
    if (result == 0) munmap(place, 4096);
    close(descriptor);
    return result;
}

/* Writes a byte past so many. */
static int write_at(const char *argument) {
    int descriptor = open(part(argument, 0), O_WRONLY | O_CREAT, 0600);
    if (descriptor < 0) return errno;
    int result = outcome(pwrite(descriptor, "x", 1, number(argument, 1)));
    close(descriptor);
    return result;
}

static int memory_file(const char *argument) {
    (void)argument;
    int descriptor = memfd_create("probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return errno;
    char again[40];
    int result = outcome(write(descriptor, "body", 4));
    if (result == 0) result = outcome(fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK));
    snprintf(again, sizeof again, "/proc/self/fd/%d", descriptor);
    if (result == 0) result = read_file(again);
    close(descriptor);
    return result;
}

/* Opens as many as it can: 0 if there were so many. */
static int open_many(const char *count) {
    for (long index = 0; index < number(count, 0); index++) {
        if (open("/dev/null", O_RDONLY) < 0) return errno;
    }
    return 0;
}

const struct action file_actions[] = {
    {"read", read_file}, {"read-of-thread", read_of_thread}, {"read-stream", read_stream}, {"list", list}, {"scan", scan}, {"widen", widen}, {"alter", alter}, {"command", command}, {"write", write_file}, {"mkdir", make_folder},
    {"unlink", remove_file}, {"rmdir", remove_folder}, {"rename", move}, {"link", hard_link}, {"symlink", soft_link},
    {"mkfifo", make_fifo}, {"mknod-char", make_device}, {"mknod-block", make_disk}, {"truncate", truncate_path},
    {"open-read-truncate", open_reading_truncating}, {"open-neither-truncate", open_neither_truncating},
    {"open-write-truncate", open_writing_truncating}, {"tmpfile", unnamed_file}, {"special-tmpfile", special_unnamed_file}, {"ftruncate", truncate_open}, {"chmod", change_mode}, {"special-mode", special_mode},
    {"fchmod", change_open_mode}, {"chown", change_owner}, {"setxattr", set_attribute}, {"utimes", set_times}, {"utimensat", set_times_at},
    {"futimens", set_open_times}, {"ioctl", control_device}, {"map-executable", map_executable}, {"write-at", write_at},
    {"memfd", memory_file}, {"open-many", open_many}, {0, 0},
};
