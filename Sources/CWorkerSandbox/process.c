/* Limits and capabilities of the process. */
#define _GNU_SOURCE
#include "taskhost_sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int taskhost_sandbox_set_limit(enum taskhost_sandbox_limit limit, uint64_t value, uint64_t *granted) {
    static const int resources[] = {RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_RTPRIO,
                                    RLIMIT_SIGPENDING};
    struct rlimit current;
    if (getrlimit(resources[limit], &current) != 0) return -errno;
    rlim_t wanted = value < current.rlim_max ? value : current.rlim_max;
    struct rlimit next = {wanted, wanted};
    if (setrlimit(resources[limit], &next) != 0) return -errno;
    if (limit == TASKHOST_SANDBOX_FILE_SIZE && signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return -errno;
    *granted = wanted;
    return 0;
}

bool taskhost_sandbox_is_sanitized(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
    return true;
#endif
#endif
    return false;
}

int taskhost_sandbox_drop_capabilities(void) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return -errno;
    for (int capability = 0; capability < 64; capability++) {
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
        if (errno == EINVAL) break; /* past the last one */
        /* Without CAP_SETPCAP the bounding set stays; it gives nothing to a process with no_new_privs that has no capability itself. */
        if (errno == EPERM) break;
        return -errno;
    }
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof none);
    if (syscall(SYS_capset, &header, none) != 0) return -errno;
    return 0;
}

int taskhost_sandbox_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}
