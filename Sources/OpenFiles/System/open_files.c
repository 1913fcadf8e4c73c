#define _GNU_SOURCE
#include "taskhost_open_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct scan {
  taskhost_open_files_seen seen;
  void *context;
  bool complete;
};

static void note(struct scan *scan, const struct stat *found) {
  if (S_ISREG(found->st_mode) || S_ISDIR(found->st_mode)) scan->seen(scan->context, (uint64_t)found->st_dev, (uint64_t)found->st_ino);
}

/* An ended process has nothing open; any other error may hide something. */
static void refused(struct scan *scan) {
  if (errno != ENOENT && errno != ESRCH) scan->complete = false;
}

static void look_at(struct scan *scan, int directory, const char *name) {
  struct stat found;
  if (fstatat(directory, name, &found, 0) == 0) {
    note(scan, &found);
  } else {
    refused(scan);
  }
}

static void look_at_descriptors(struct scan *scan, int process) {
  int opened = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return refused(scan);
  DIR *stream = fdopendir(opened);
  if (stream == NULL) {
    close(opened);
    scan->complete = false;
    return;
  }
  for (;;) {
    errno = 0;
    struct dirent *entry = readdir(stream);
    if (entry == NULL) {
      if (errno != 0) refused(scan);
      break;
    }
    if (entry->d_name[0] != '.') look_at(scan, opened, entry->d_name);
  }
  closedir(stream);
}

/* A line of maps: "start-end perms offset major:minor inode path". A mapped file counts as open even if its descriptor is closed. Some
 * file systems show another device here than in stat; then the path decides, if this process sees the same file there. */
static void look_at_mapping(struct scan *scan, const char *line, uint64_t *last_inode) {
  unsigned major_number = 0, minor_number = 0;
  unsigned long inode = 0;
  int path = 0;
  if (sscanf(line, "%*s %*s %*s %x:%x %lu %n", &major_number, &minor_number, &inode, &path) < 3 || inode == 0) return;
  if (inode == *last_inode) return;
  *last_inode = inode;
  scan->seen(scan->context, (uint64_t)makedev(major_number, minor_number), inode);
  struct stat found;
  if (major_number == 0 && path > 0 && line[path] == '/' && stat(line + path, &found) == 0 && found.st_ino == inode) note(scan, &found);
}

static void look_at_mappings(struct scan *scan, int process) {
  int opened = openat(process, "maps", O_RDONLY | O_CLOEXEC);
  if (opened < 0) return refused(scan);
  FILE *stream = fdopen(opened, "r");
  if (stream == NULL) {
    close(opened);
    scan->complete = false;
    return;
  }
  char *line = NULL;
  size_t capacity = 0;
  uint64_t last_inode = 0;
  ssize_t length;
  while ((length = getline(&line, &capacity, stream)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    look_at_mapping(scan, line, &last_inode);
  }
  if (ferror(stream)) refused(scan);
  free(line);
  fclose(stream);
}

static void look_at_process(struct scan *scan, int proc, const char *name) {
  int process = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (process < 0) return refused(scan);
  look_at(scan, process, "cwd");
  look_at(scan, process, "root");
  look_at(scan, process, "exe");
  look_at_descriptors(scan, process);
  look_at_mappings(scan, process);
  close(process);
}

static void look_at_path(struct scan *scan, char *path) {
  path[strcspn(path, "\n\t")] = 0;
  struct stat found;
  if (path[0] == '/' && stat(path, &found) == 0) note(scan, &found);
}

/* Files used as disks or swap space are open in the kernel, not in a process. */
static void look_at_kernel(struct scan *scan) {
  DIR *blocks = opendir("/sys/block");
  if (blocks != NULL) {
    struct dirent *entry;
    while ((entry = readdir(blocks)) != NULL) {
      if (strncmp(entry->d_name, "loop", 4) != 0) continue;
      char place[sizeof entry->d_name + 40], path[4200];
      snprintf(place, sizeof place, "/sys/block/%s/loop/backing_file", entry->d_name);
      FILE *file = fopen(place, "re");
      if (file == NULL) continue;
      if (fgets(path, sizeof path, file) != NULL) look_at_path(scan, path);
      fclose(file);
    }
    closedir(blocks);
  }
  FILE *swaps = fopen("/proc/swaps", "re");
  if (swaps == NULL) return;
  char line[4400];
  while (fgets(line, sizeof line, swaps) != NULL) {
    char *end = strstr(line, " file");
    if (line[0] != '/' || end == NULL) continue;
    while (end > line && end[-1] == ' ') end--;
    *end = 0;
    look_at_path(scan, line);
  }
  fclose(swaps);
}

/* Only root with its privileges in the machine's own process namespace sees every process. */
static bool sees_everything(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  memset(data, 0, sizeof data);
  if (syscall(SYS_capget, &header, data) != 0) return false;
  if ((data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE)) == 0) return false;
  struct stat space;
  return stat("/proc/self/ns/pid", &space) == 0 && space.st_ino == 0xEFFFFFFCu;
}

bool taskhost_open_files_scan(taskhost_open_files_seen seen, void *context) {
  struct scan scan = {seen, context, sees_everything()};
  look_at_kernel(&scan);
  DIR *proc = opendir("/proc");
  if (proc == NULL) return false;
  for (;;) {
    errno = 0;
    struct dirent *entry = readdir(proc);
    if (entry == NULL) {
      if (errno != 0) scan.complete = false;
      break;
    }
    if (isdigit((unsigned char)entry->d_name[0])) look_at_process(&scan, dirfd(proc), entry->d_name);
  }
  closedir(proc);
  return scan.complete;
}

static int open_resolved(int directory, const char *path, uint64_t flags, uint64_t resolve) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0;; attempt++) {
    long descriptor = syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (descriptor >= 0) return (int)descriptor;
    if (errno != EINTR && (errno != EAGAIN || attempt == 16)) return -errno;
  }
}

int taskhost_open_files_directory(const char *path) { return open_resolved(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0); }

int taskhost_open_files_folder(int directory, const char *path) {
  return open_resolved(directory, path, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
}

static int open_expected(int directory, const char *path, uint64_t flags, uint64_t device, uint64_t inode, struct stat *found) {
  int opened = open_resolved(directory, path, flags, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
  if (opened < 0) return opened;
  if (fstat(opened, found) == 0 && (uint64_t)found->st_dev == device && (uint64_t)found->st_ino == inode) return opened;
  close(opened);
  return -ESTALE;
}

bool taskhost_open_files_is(int directory, const char *path, uint64_t device, uint64_t inode) {
  struct stat found;
  int opened = open_expected(directory, path, O_PATH | O_NOFOLLOW, device, inode, &found);
  if (opened >= 0) close(opened);
  return opened >= 0;
}

int taskhost_open_files_lease(int directory, const char *path, uint64_t device, uint64_t inode) {
  struct stat found;
  /* Check first, because the following call would open a device. */
  if (fstatat(directory, path, &found, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0 || !S_ISREG(found.st_mode)) return -1;
  if ((uint64_t)found.st_dev != device || (uint64_t)found.st_ino != inode) return -1;
  int opened = open_expected(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_NOATIME, device, inode, &found);
  if (opened < 0) return -1;
  int answer = -1;
  /* Must precede the lease: otherwise a conflicting open would cause SIGIO, which ends the process. SIGURG is ignored. */
  if (fcntl(opened, F_SETSIG, SIGURG) == 0) {
    if (fcntl(opened, F_SETLEASE, F_WRLCK) == 0) {
      answer = 0;
    } else if (errno == EAGAIN || errno == EBUSY) {
      answer = 1;
    }
  }
  close(opened);
  return answer;
}
