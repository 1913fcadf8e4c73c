/*
 * Landlock by its system calls. The headers of older systems end at ABI 2, so what later ones added is written down here.
 */
#define _GNU_SOURCE
#include "taskhost_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { CREATE_RULESET_VERSION = 1 };
enum { RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };

/* As of ABI 6; a kernel that knows less accepts the rest while it is zero. */
struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

struct path_attributes {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

struct port_attributes {
    uint64_t allowed_access;
    uint64_t port;
};

/* openat2 came with Linux 5.6, Landlock with 5.13. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
enum { RESOLVE_WITHOUT_LINKS = 0x04 }; /* RESOLVE_NO_SYMLINKS */

struct open_attributes {
    uint64_t flags, mode, resolve;
};

/* Rights that make sense on a file: execute, write_file, read_file, truncate, ioctl_dev. */
static const uint64_t file_rights = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 14 | 1u << 15;

int taskhost_sandbox_landlock_abi(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    return abi < 0 ? 0 : (int)abi;
}

int taskhost_sandbox_landlock_create(uint64_t files, uint64_t ports, uint64_t scopes) {
    struct ruleset_attributes attributes = {files, ports, scopes};
    long ruleset = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    return ruleset < 0 ? -errno : (int)ruleset;
}

int taskhost_sandbox_open(const char *path) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int taskhost_sandbox_open_without_links(const char *path) {
    struct open_attributes how = {O_PATH | O_CLOEXEC, 0, RESOLVE_WITHOUT_LINKS};
    long descriptor = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    return descriptor < 0 ? -errno : (int)descriptor;
}

int taskhost_sandbox_landlock_allow(int ruleset, int descriptor, uint64_t access) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -errno;
    struct path_attributes attributes = {S_ISDIR(status.st_mode) ? access : access & file_rights, descriptor};
    return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attributes, 0) == 0 ? 0 : -errno;
}

int taskhost_sandbox_landlock_allow_port(int ruleset, uint64_t access, uint16_t port) {
    struct port_attributes attributes = {access, port};
    return syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attributes, 0) == 0 ? 0 : -errno;
}

int taskhost_sandbox_landlock_restrict(int ruleset) {
    return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0 ? 0 : -errno;
}

void taskhost_sandbox_close(int descriptor) {
    close(descriptor);
}
