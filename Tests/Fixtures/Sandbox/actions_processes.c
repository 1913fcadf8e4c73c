/* Processes, threads, signals, memory, and any system call by its number. */
#define _GNU_SOURCE
#include "actions.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Calls that are denied for some arguments. */
static const struct {
    const char *name;
    long call;
} calls[] = {
    {"clone3", SYS_clone3}, {"fcntl", SYS_fcntl}, {"ioctl", SYS_ioctl}, {"ioprio_set", SYS_ioprio_set}, {"openat2", SYS_openat2},
    {"personality", SYS_personality}, {"prctl", SYS_prctl}, {"prlimit64", SYS_prlimit64}, {"sched_setaffinity", SYS_sched_setaffinity},
    {"setpriority", SYS_setpriority}, {"tgkill", SYS_tgkill}, {"tkill", SYS_tkill}, {"rt_sigqueueinfo", SYS_rt_sigqueueinfo},
    {"socketpair", SYS_socketpair}, {"fchmodat2", 452}, {"fchmodat", SYS_fchmodat},
};

/* NAME:ARGUMENT:…, or a number instead of the name; six arguments at most. */
static int any_call(const char *argument) {
    long call = number(argument, 0);
    for (unsigned index = 0; index < sizeof calls / sizeof calls[0]; index++) {
        if (strcmp(calls[index].name, part(argument, 0)) == 0) call = calls[index].call;
    }
    return outcome(syscall(call, number(argument, 1), number(argument, 2), number(argument, 3), number(argument, 4),
        number(argument, 5), number(argument, 6)));
}

/*
 * Makes every call that no plugin may make, with arguments that can do no harm should it get through.
 * 0: all answered EPERM; else 10000 and the number of one that did not.
 */
static int all_denied(const char *argument) {
    (void)argument;
    static const long never[] = {
        SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_io_setup, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        SYS_process_madvise, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_kcmp, 448 /* process_mrelease */, SYS_setsid, SYS_setpgid,
        SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups,
        SYS_capset, 460 /* lsm_set_self_attr */, SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_fsopen, SYS_fsconfig, SYS_fsmount,
        SYS_fspick, SYS_move_mount, SYS_open_tree, SYS_mount_setattr, 467 /* open_tree_attr */, SYS_pivot_root, SYS_chroot, SYS_bpf,
        SYS_perf_event_open, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_kexec_load, SYS_init_module, SYS_finit_module,
        SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
        SYS_sethostname, SYS_setdomainname, SYS_userfaultfd, SYS_quotactl, SYS_quotactl_fd, SYS_syslog, SYS_acct, SYS_name_to_handle_at,
        SYS_open_by_handle_at, SYS_vhangup, SYS_fanotify_init, SYS_fanotify_mark, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget,
        SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open, SYS_mq_unlink, SYS_listen,
        SYS_accept, SYS_accept4, SYS_execveat, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
        SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */,
#ifdef __x86_64__
        SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_kexec_file_load,
#endif
    };
    for (unsigned index = 0; index < sizeof never / sizeof never[0]; index++) {
        if (syscall(never[index], -1, -1, -1, -1, -1, -1) != -1 || errno != EPERM) return 10000 + (int)never[index];
    }
    return 0;
}

/* 0, or 2000 and how it ended when it did not end with 0. */
static int ended(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) < 0) return errno;
    return status == 0 ? 0 : 2000 + status;
}

static int fork_child(const char *argument) {
    (void)argument;
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) _exit(0);
    return ended(child);
}

/* The flags are the argument, beside SIGCHLD. */
static int clone_raw(const char *flags) {
    long child = syscall(SYS_clone, number(flags, 0) | SIGCHLD, 0, 0, 0, 0);
    if (child < 0) return errno;
    if (child == 0) _exit(0);
    return ended((pid_t)child);
}

static int execute(const char *path) {
    char *arguments[] = {(char *)path, NULL};
    execve(path, arguments, environ);
    return errno;
}

static int spawn(const char *path) {
    char *arguments[] = {(char *)path, NULL};
    pid_t child;
    int result = posix_spawn(&child, path, NULL, NULL, arguments, environ);
    return result != 0 ? result : ended(child);
}

/* The C library calls it a shell that ended with 127 when none could be started. */
static int shell(const char *command) {
    int result = system(command);
    return result < 0 ? errno : WIFEXITED(result) && WEXITSTATUS(result) == 127 ? ENOEXEC : result == 0 ? 0 : 2000 + result;
}

/* Starts a program that waits for its standard input, and sends it a signal. */
static int signal_child(const char *path) {
    int input[2];
    if (pipe2(input, O_CLOEXEC) != 0) return errno;
    char *arguments[] = {(char *)path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    pid_t child;
    int result = posix_spawn(&child, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result != 0) return result;
    result = outcome(kill(child, SIGTERM));
    close(input[0]);
    close(input[1]);
    int status;
    waitpid(child, &status, 0);
    return result;
}

static void *nothing(void *argument) { return argument; }

static int threads(const char *count) {
    for (long index = 0; index < number(count, 0); index++) {
        pthread_t thread;
        int result = pthread_create(&thread, NULL, nothing, NULL);
        if (result != 0) return result;
        pthread_join(thread, NULL);
    }
    return 0;
}

static int signal_process(const char *process) { return outcome(kill((pid_t)number(process, 0), 0)); }
static int signal_parent(const char *argument) { (void)argument; return outcome(kill(getppid(), 0)); }
static int signal_group(const char *argument) { (void)argument; return outcome(kill(0, 0)); }
static int signal_self(const char *argument) { (void)argument; return outcome(kill(getpid(), 0)); }
static int trace(const char *argument) { (void)argument; return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }

static int signal_thread(const char *argument) {
    (void)argument;
    signal(SIGUSR1, SIG_IGN);
    int result = pthread_kill(pthread_self(), SIGUSR1);
    return result != 0 ? result : outcome(raise(SIGUSR1));
}

/* 0: there was so much memory, touched; ENOMEM: the last allocation gave none, and a small one still does. */
static int allocate(const char *bytes) {
    const size_t step = 1 << 20;
    char **blocks = NULL;
    int result = 0;
    for (size_t taken = 0; taken < (size_t)number(bytes, 0); taken += step) {
        char **block = malloc(step);
        if (block == NULL) {
            result = ENOMEM;
            break;
        }
        memset(block, 1, step);
        *block = (char *)blocks;
        blocks = block;
    }
    while (blocks != NULL) {
        char **next = (char **)*blocks;
        free(blocks);
        blocks = next;
    }
    char *small = malloc(100);
    if (small == NULL) return EIO;
    free(small);
    return result;
}

static int load(const char *name) {
    void *library = dlopen(name, RTLD_NOW);
    return library == NULL ? ENOENT : 0;
}

static int tell_time(const char *argument) {
    (void)argument;
    struct timespec time;
    struct tm parts;
    if (clock_gettime(CLOCK_REALTIME, &time) != 0) return errno;
    return localtime_r(&time.tv_sec, &parts) == NULL ? EIO : 0;
}

static int event(const char *argument) {
    (void)argument;
    uint64_t value = 1;
    int descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor < 0) return errno;
    int result = outcome(write(descriptor, &value, sizeof value));
    if (result == 0) result = outcome(read(descriptor, &value, sizeof value));
    close(descriptor);
    return result;
}

/* 0: there is no capability left in any set, and none can be had. */
static int capabilities(const char *argument) {
    (void)argument;
    struct {
        unsigned version;
        int process;
    } header = {0x20080522, 0};
    unsigned sets[6];
    if (syscall(SYS_capget, &header, sets) != 0) return errno;
    for (int index = 0; index < 6; index++) {
        if (sets[index] != 0) return EEXIST;
    }
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
        if (geteuid() == 0 && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 0) return EEXIST;
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) != 0) return EEXIST;
    }
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EEXIST;
}

/* KIND:VALUE; 0: soft and hard limit have this value. */
static int has_limit(const char *argument) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)number(argument, 0), &limit) != 0) return errno;
    rlim_t value = (rlim_t)number(argument, 1);
    return limit.rlim_cur == value && limit.rlim_max == value ? 0 : ERANGE;
}

/* getpid as a 32-bit program makes it. */
static int call_32_bit(const char *argument) {
    (void)argument;
    int result = 0;
#ifdef __x86_64__
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
#endif
    return result;
}

static int name_thread(const char *name) { return outcome(prctl(PR_SET_NAME, name, 0, 0, 0)); }
static int set_death_signal(const char *argument) { (void)argument; return outcome(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)); }
static int lower_own_priority(const char *argument) { (void)argument; return outcome(setpriority(PRIO_PROCESS, 0, 1)); }

const struct action process_actions[] = {
    {"call", any_call}, {"call-32-bit", call_32_bit}, {"all-denied", all_denied}, {"fork", fork_child}, {"clone", clone_raw}, {"execve", execute}, {"spawn", spawn}, {"system", shell},
    {"signal-child", signal_child}, {"threads", threads}, {"kill", signal_process}, {"kill-parent", signal_parent},
    {"kill-group", signal_group}, {"kill-self", signal_self}, {"pthread-kill", signal_thread}, {"ptrace", trace},
    {"allocate", allocate}, {"load", load}, {"clock", tell_time}, {"eventfd", event}, {"capabilities", capabilities},
    {"has-limit", has_limit}, {"prctl-name", name_thread}, {"prctl-death-signal", set_death_signal}, {"nice-self", lower_own_priority},
    {0, 0},
};
