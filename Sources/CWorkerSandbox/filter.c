/*
 * The seccomp filter: what Landlock does not cover is refused with EPERM, everything else allowed.
 *
 * The kernel reads 32 bits of many arguments, but a filter sees 64. Comparisons that allow use all 64 bits; comparisons that deny use the
 * bits that the kernel reads, so that garbage in the upper half never allows anything.
 */
#define _GNU_SOURCE
#include "taskhost_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls that libseccomp does not know yet; the numbers are the same on every architecture. */
enum {
    NUMBER_quotactl_fd = 443,
    NUMBER_process_mrelease = 448,
    NUMBER_fchmodat2 = 452,
    NUMBER_lsm_set_self_attr = 460,
    NUMBER_setxattrat = 463,
    NUMBER_removexattrat = 466,
    NUMBER_open_tree_attr = 467,
    NUMBER_file_setattr = 469,
};

enum { COMMAND_BITS = 0xffffffff };      /* what the kernel reads of a command */
enum { TYPE_BITS = 0xf };                /* the kind of a socket; above are SOCK_CLOEXEC and SOCK_NONBLOCK */
enum { SET_FAST_OPEN = 0x20000000 };     /* MSG_FASTOPEN */
enum { FIO_SET_OWNER = 0x8901, SIO_SET_GROUP = 0x8902, TERMINAL_INPUT = 0x5412, TERMINAL_LINUX = 0x541c };
enum { GET_PERSONALITY_ONLY = 0xffffffff };
enum { PRIORITY_OF_ONE = 1 };            /* IOPRIO_WHO_PROCESS */
enum { LOCAL_PORT_RANGE = 51 };          /* IP_LOCAL_PORT_RANGE: which port a socket gets that asks for none */
enum { NETLINK_ADDRESS = 12 };           /* sizeof(struct sockaddr_nl); the least that the kernel takes as an internet address is 16 */

/*
 * Commands that change a file or folder that is open only for reading. Landlock covers none of them.
 * Numbers as in linux/fs.h, fsverity.h, fscrypt.h and btrfs.h; of the first two, as 32-bit programs have them too.
 */
static const uint64_t changing_commands[] = {
    0x40086602, 0x40046602, /* FS_IOC_SETFLAGS */
    0x40087602, 0x40047602, /* FS_IOC_SETVERSION */
    0x401c5820,             /* FS_IOC_FSSETXATTR */
    0x40806685,             /* FS_IOC_ENABLE_VERITY */
    0x800c6613, 0xc0506617, 0xc0406618, 0xc0406619, /* FS_IOC_SET_ENCRYPTION_POLICY, ADD, REMOVE, REMOVE_..._ALL_USERS */
    0x50009401, 0x50009417, 0x5000940e, 0x50009418, /* BTRFS_IOC_SNAP_CREATE, _V2, SUBVOL_CREATE, _V2 */
    0x5000940f, 0x5000943f, 0x4008941a, 0xc0c89425, /* BTRFS_IOC_SNAP_DESTROY, _V2, SUBVOL_SETFLAGS, SET_RECEIVED_SUBVOL */
};

/* Never allowed for a plugin, whatever its entitlements. */
static const int always_denied[] = {
    /* system calls that go around filters; of io_setup, all users of the machine have a number together */
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(io_setup),
    /* other processes */
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_send_signal), SCMP_SYS(kcmp), NUMBER_process_mrelease,
    /* leaving the process group that is killed, or the user */
    SCMP_SYS(setsid), SCMP_SYS(setpgid), SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
    SCMP_SYS(setresgid), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset), NUMBER_lsm_set_self_attr,
    /* namespaces and mounts */
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2), SCMP_SYS(fsopen), SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(mount_setattr), NUMBER_open_tree_attr,
    SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    /* the kernel and the machine */
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(create_module),
    SCMP_SYS(query_module), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(settimeofday), SCMP_SYS(stime),
    SCMP_SYS(clock_settime), SCMP_SYS(clock_settime64), SCMP_SYS(adjtimex), SCMP_SYS(clock_adjtime), SCMP_SYS(clock_adjtime64),
    SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(userfaultfd), SCMP_SYS(quotactl), NUMBER_quotactl_fd, SCMP_SYS(syslog),
    SCMP_SYS(acct), SCMP_SYS(name_to_handle_at), SCMP_SYS(open_by_handle_at), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt),
    SCMP_SYS(vm86), SCMP_SYS(vm86old), SCMP_SYS(vhangup), SCMP_SYS(lookup_dcookie), SCMP_SYS(nfsservctl), SCMP_SYS(_sysctl),
    SCMP_SYS(uselib), SCMP_SYS(ustat), SCMP_SYS(sysfs), SCMP_SYS(fanotify_init), SCMP_SYS(fanotify_mark),
    /* memory and queues shared with whoever runs as the same user */
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd), SCMP_SYS(msgrcv), SCMP_SYS(msgctl),
    SCMP_SYS(semget), SCMP_SYS(semop), SCMP_SYS(semctl), SCMP_SYS(semtimedop), SCMP_SYS(semtimedop_time64), SCMP_SYS(ipc),
    SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
    /* serving */
    SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    /* programs that have no name, for those that may start programs; the others are refused every way of it */
    SCMP_SYS(execveat),
    /* changes to files that Landlock does not see: by a path they reach all that the host's user owns, whatever is entitled */
    SCMP_SYS(chmod), SCMP_SYS(fchmodat), NUMBER_fchmodat2, SCMP_SYS(chown), SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(chown32), SCMP_SYS(lchown32), SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), NUMBER_setxattrat,
    NUMBER_removexattrat, NUMBER_file_setattr, SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat),
};

/* The argument that names another process; 0 is the caller. */
static const struct {
    int call;
    unsigned argument;
} only_itself[] = {
    {SCMP_SYS(prlimit64), 0},      {SCMP_SYS(setpriority), 0},        {SCMP_SYS(setpriority), 1},   {SCMP_SYS(sched_setscheduler), 0},
    {SCMP_SYS(sched_setparam), 0}, {SCMP_SYS(sched_setattr), 0},      {SCMP_SYS(ioprio_set), 1},    {SCMP_SYS(sched_setaffinity), 0},
    {SCMP_SYS(move_pages), 0},     {SCMP_SYS(migrate_pages), 0},
};

/* One comparison of a rule. */
static struct scmp_arg_cmp equal(unsigned argument, uint64_t value) {
    return (struct scmp_arg_cmp){argument, SCMP_CMP_EQ, value, 0};
}

static struct scmp_arg_cmp other_than(unsigned argument, uint64_t value) {
    return (struct scmp_arg_cmp){argument, SCMP_CMP_NE, value, 0};
}

static struct scmp_arg_cmp above(unsigned argument, uint64_t value) {
    return (struct scmp_arg_cmp){argument, SCMP_CMP_GT, value, 0};
}

static struct scmp_arg_cmp masked(unsigned argument, uint64_t mask, uint64_t value) {
    return (struct scmp_arg_cmp){argument, SCMP_CMP_MASKED_EQ, mask, value};
}

/* Rules are added in sequence; the first failure skips the rest. */
struct builder {
    scmp_filter_ctx context;
    int result;
};

static void answer(struct builder *builder, int error, int call, unsigned count, const struct scmp_arg_cmp *comparisons) {
    if (builder->result == 0) {
        builder->result = seccomp_rule_add_array(builder->context, SCMP_ACT_ERRNO(error), call, count, comparisons);
    }
}

static void deny(struct builder *builder, int call) {
    answer(builder, EPERM, call, 0, NULL);
}

static void deny_if(struct builder *builder, int call, struct scmp_arg_cmp comparison) {
    answer(builder, EPERM, call, 1, &comparison);
}

static void deny_if_both(struct builder *builder, int call, struct scmp_arg_cmp one, struct scmp_arg_cmp two) {
    struct scmp_arg_cmp comparisons[] = {one, two};
    answer(builder, EPERM, call, 2, comparisons);
}

/* Denies `call` unless the kind of socket in argument 1 is one of `kinds` (a bit each); `family` 0 means any family. */
static void allow_kinds(struct builder *builder, int call, int family, unsigned kinds) {
    for (unsigned kind = 0; kind <= TYPE_BITS; kind++) {
        if ((kinds & 1u << kind) != 0) continue;
        if (family == 0) {
            deny_if(builder, call, masked(1, TYPE_BITS, kind));
        } else {
            deny_if_both(builder, call, equal(0, (uint64_t)family), masked(1, TYPE_BITS, kind));
        }
    }
}

/* Denies an internet socket of `kind` unless its protocol is the default or `protocol`: others go around Landlock's rules for TCP. */
static void allow_protocol(struct builder *builder, int family, int kind, unsigned protocol) {
    for (unsigned other = 1; other <= protocol; other++) {
        struct scmp_arg_cmp comparisons[] = {
            equal(0, (uint64_t)family), masked(1, TYPE_BITS, (uint64_t)kind), other < protocol ? equal(2, other) : above(2, protocol)};
        answer(builder, EPERM, SCMP_SYS(socket), 3, comparisons);
    }
}

static void sockets(struct builder *builder, enum taskhost_sandbox_network network) {
    /* A datagram socket pair could send to any named Unix socket. */
    deny_if(builder, SCMP_SYS(socketpair), other_than(0, AF_UNIX));
    allow_kinds(builder, SCMP_SYS(socketpair), 0, 1u << SOCK_STREAM | 1u << SOCK_SEQPACKET);

    if (network == TASKHOST_SANDBOX_NO_NETWORK) {
        deny(builder, SCMP_SYS(bind));
        deny(builder, SCMP_SYS(socket));
        return;
    }
    /*
     * No port of its own choice, TCP or UDP: the kernel gives one to a socket that connects or sends without. The resolver binds its
     * netlink sockets, whose addresses are shorter than those the kernel takes for an internet socket.
     */
    deny_if(builder, SCMP_SYS(bind), other_than(2, NETLINK_ADDRESS));
    for (unsigned family = 0; family < AF_NETLINK; family++) {
        if (family != AF_INET && family != AF_INET6) deny_if(builder, SCMP_SYS(socket), equal(0, family));
    }
    deny_if(builder, SCMP_SYS(socket), above(0, AF_NETLINK));

    unsigned kinds = 1u << SOCK_STREAM | (network == TASKHOST_SANDBOX_CONNECT ? 1u << SOCK_DGRAM : 0);
    static const int families[] = {AF_INET, AF_INET6};
    for (unsigned index = 0; index < 2; index++) {
        allow_kinds(builder, SCMP_SYS(socket), families[index], kinds);
        allow_protocol(builder, families[index], SOCK_STREAM, IPPROTO_TCP);
        if (network == TASKHOST_SANDBOX_CONNECT) allow_protocol(builder, families[index], SOCK_DGRAM, IPPROTO_UDP);
    }
    /* Routes and addresses, which getaddrinfo asks for. */
    allow_kinds(builder, SCMP_SYS(socket), AF_NETLINK, 1u << SOCK_RAW | 1u << SOCK_DGRAM);
    deny_if_both(builder, SCMP_SYS(socket), equal(0, AF_NETLINK), other_than(2, 0));

    /* A socket without a port gets one from a range, and a plugin could set a range of one port. */
    deny_if_both(builder, SCMP_SYS(setsockopt), masked(1, COMMAND_BITS, SOL_IP), masked(2, COMMAND_BITS, LOCAL_PORT_RANGE));
    /* Whoever closes such a socket last waits, and a plugin could send it to the host. */
    deny_if_both(builder, SCMP_SYS(setsockopt), masked(1, COMMAND_BITS, SOL_SOCKET), masked(2, COMMAND_BITS, SO_LINGER));

    if (network == TASKHOST_SANDBOX_PORTS) {
        /* Connects without a check of the port by Landlock. */
        deny_if(builder, SCMP_SYS(sendto), masked(3, SET_FAST_OPEN, SET_FAST_OPEN));
        deny_if(builder, SCMP_SYS(sendmsg), masked(2, SET_FAST_OPEN, SET_FAST_OPEN));
        deny_if(builder, SCMP_SYS(sendmmsg), masked(3, SET_FAST_OPEN, SET_FAST_OPEN));
    }
}

static void processes(struct builder *builder, bool execution) {
    /* Its arguments are in memory, which a filter cannot read; the C library then uses clone. */
    answer(builder, ENOSYS, SCMP_SYS(clone3), 0, NULL);
    static const uint64_t never[] = {
        CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
        CLONE_PARENT, /* a child of the host */
    };
    for (size_t index = 0; index < sizeof never / sizeof never[0]; index++) {
        deny_if(builder, SCMP_SYS(clone), masked(0, never[index], never[index]));
    }
    if (execution) return;
    deny_if(builder, SCMP_SYS(clone), masked(0, CLONE_THREAD, 0));
    deny(builder, SCMP_SYS(fork));
    deny(builder, SCMP_SYS(vfork));
    deny(builder, SCMP_SYS(execve));
}

/* Denies signals to other processes. If programs may be started, Landlock's scope does that better, if the kernel has one. */
static void signals(struct builder *builder, const struct taskhost_sandbox_filter *filter) {
    if (!filter->execution || filter->landlock_abi < 6) {
        static const int calls[] = {
            SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo)};
        uint64_t own = (uint64_t)getpid();
        for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) deny_if(builder, calls[index], other_than(0, own));
    }
    /* Sends a signal of choice to the owner set for a descriptor. */
    deny_if(builder, SCMP_SYS(fcntl), masked(1, COMMAND_BITS, F_SETOWN));
    deny_if(builder, SCMP_SYS(fcntl), masked(1, COMMAND_BITS, F_SETOWN_EX));
    deny_if(builder, SCMP_SYS(fcntl), masked(1, COMMAND_BITS, F_SETSIG));
    deny_if(builder, SCMP_SYS(ioctl), masked(1, COMMAND_BITS, FIO_SET_OWNER));
    deny_if(builder, SCMP_SYS(ioctl), masked(1, COMMAND_BITS, SIO_SET_GROUP));
    deny_if(builder, SCMP_SYS(ioctl), masked(1, COMMAND_BITS, TERMINAL_INPUT));
    deny_if(builder, SCMP_SYS(ioctl), masked(1, COMMAND_BITS, TERMINAL_LINUX));
    /* Delays processes that open the file, even if the plugin may only read it. */
    deny_if(builder, SCMP_SYS(fcntl), masked(1, COMMAND_BITS, F_SETLEASE));
    /* It dies with the host. */
    deny_if(builder, SCMP_SYS(prctl), masked(0, COMMAND_BITS, PR_SET_PDEATHSIG));
}

/*
 * Denies set-user-ID and set-group-ID files, which would let other users run code as the host's user. Also denies making existing files
 * writable for others: fchmod needs only a descriptor for reading, and a filter cannot see how a descriptor was opened.
 */
static void modes(struct builder *builder) {
    static const uint64_t refused[] = {S_ISUID, S_ISGID, S_IWGRP, S_IWOTH};
    for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
        deny_if(builder, SCMP_SYS(fchmod), masked(1, refused[index], refused[index]));
    }
    static const uint64_t bits[] = {S_ISUID, S_ISGID};
    static const uint64_t making[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
    for (size_t index = 0; index < 2; index++) {
        uint64_t bit = bits[index];
        deny_if(builder, SCMP_SYS(creat), masked(1, bit, bit));
        deny_if(builder, SCMP_SYS(mknod), masked(1, bit, bit));
        deny_if(builder, SCMP_SYS(mknodat), masked(2, bit, bit));
        for (size_t flag = 0; flag < 2; flag++) {
            deny_if_both(builder, SCMP_SYS(open), masked(1, making[flag], making[flag]), masked(2, bit, bit));
            deny_if_both(builder, SCMP_SYS(openat), masked(2, making[flag], making[flag]), masked(3, bit, bit));
        }
    }
    /*
     * Its mode, and whether it truncates, are in memory, where a filter cannot look: with it a file could be made that runs as its owner.
     * Programs then take openat, with O_PATH and O_NOFOLLOW for each step, and statx for the mount that a descriptor is on.
     */
    answer(builder, ENOSYS, SCMP_SYS(openat2), 0, NULL);
}

static void files(struct builder *builder, const struct taskhost_sandbox_filter *filter) {
    modes(builder);
    for (size_t index = 0; index < sizeof changing_commands / sizeof changing_commands[0]; index++) {
        deny_if(builder, SCMP_SYS(ioctl), masked(1, COMMAND_BITS, changing_commands[index]));
    }
    deny_if(builder, SCMP_SYS(utimensat), other_than(1, 0));
    deny_if(builder, SCMP_SYS(utimensat_time64), other_than(1, 0));

    if (filter->landlock_abi >= 3) return;
    /* Landlock cannot limit truncation yet, so only files opened for writing can be truncated. */
    deny(builder, SCMP_SYS(truncate));
    deny(builder, SCMP_SYS(truncate64));
    static const uint64_t not_writing[] = {O_RDONLY, O_ACCMODE}; /* 3 opens for neither, and yet truncates */
    for (size_t index = 0; index < 2; index++) {
        uint64_t value = O_TRUNC | not_writing[index];
        deny_if(builder, SCMP_SYS(open), masked(1, O_TRUNC | O_ACCMODE, value));
        deny_if(builder, SCMP_SYS(openat), masked(2, O_TRUNC | O_ACCMODE, value));
    }
}

bool taskhost_sandbox_has_seccomp(void) {
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 && seccomp_api_get() >= 1;
}

int taskhost_sandbox_filter(const struct taskhost_sandbox_filter *filter) {
    struct builder builder = {seccomp_init(SCMP_ACT_ALLOW), 0};
    if (builder.context == NULL) return -ENOMEM;
    builder.result = seccomp_attr_set(builder.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

    for (size_t index = 0; index < sizeof always_denied / sizeof always_denied[0]; index++) deny(&builder, always_denied[index]);
    for (size_t index = 0; index < sizeof only_itself / sizeof only_itself[0]; index++) {
        deny_if(&builder, only_itself[index].call, other_than(only_itself[index].argument, 0));
    }
    deny_if(&builder, SCMP_SYS(personality), other_than(0, GET_PERSONALITY_ONLY));
    /* Of another kind, 0 is not the caller but its process group, or root. */
    deny_if(&builder, SCMP_SYS(ioprio_set), other_than(0, PRIORITY_OF_ONE));
    sockets(&builder, filter->network);
    processes(&builder, filter->execution);
    signals(&builder, filter);
    files(&builder, filter);

    if (builder.result == 0) builder.result = seccomp_load(builder.context);
    seccomp_release(builder.context);
    malloc_trim(0); /* an idle worker would keep the memory of building the filter */
    return builder.result;
}
