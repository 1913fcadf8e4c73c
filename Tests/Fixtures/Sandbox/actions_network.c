/* Sockets. */
#define _GNU_SOURCE
#include "actions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int make(const char *argument) {
    int descriptor = socket((int)number(argument, 0), (int)number(argument, 1), (int)number(argument, 2));
    if (descriptor < 0) return errno;
    close(descriptor);
    return 0;
}

/* The arguments as the kernel gets them, 64 bits each. */
static int make_raw(const char *argument) {
    return outcome(syscall(SYS_socket, number(argument, 0), number(argument, 1), number(argument, 2)));
}

static struct sockaddr_in local(long port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int on_socket(int type, const char *port, int (*call)(int, const struct sockaddr *, socklen_t)) {
    struct sockaddr_in address = local(number(port, 0));
    int descriptor = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int result = outcome(call(descriptor, (struct sockaddr *)&address, sizeof address));
    close(descriptor);
    return result;
}

static int fast_open(int descriptor, const struct sockaddr *address, socklen_t length) {
    return (int)sendto(descriptor, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, address, length);
}

static int serve(int descriptor, const struct sockaddr *address, socklen_t length) {
    (void)address, (void)length;
    return listen(descriptor, 1);
}

static int connect_stream(const char *port) { return on_socket(SOCK_STREAM, port, connect); }
static int connect_datagram(const char *port) { return on_socket(SOCK_DGRAM, port, connect); }
static int bind_stream(const char *port) { return on_socket(SOCK_STREAM, port, bind); }
static int connect_fast(const char *port) { return on_socket(SOCK_STREAM, port, fast_open); }
static int listen_stream(const char *port) { return on_socket(SOCK_STREAM, port, serve); }

static int bind_datagram(const char *port) { return on_socket(SOCK_DGRAM, port, bind); }

/* FAMILY:TYPE:LENGTH, the length as the kernel gets it, 64 bits. The address is any one with any port. */
static int bind_raw(const char *argument) {
    struct sockaddr_storage address;
    memset(&address, 0, sizeof address);
    address.ss_family = (sa_family_t)number(argument, 0);
    int descriptor = socket((int)number(argument, 0), (int)number(argument, 1) | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int result = outcome(syscall(SYS_bind, descriptor, &address, number(argument, 2)));
    close(descriptor);
    return result;
}

/* Asks for ports from a range of one (IP_LOCAL_PORT_RANGE), then sends, which gives the socket its port. */
static int choose_port(const char *port) {
    unsigned range = (unsigned)number(port, 0) | (unsigned)number(port, 0) << 16;
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int result = outcome(setsockopt(descriptor, SOL_IP, 51, &range, sizeof range));
    close(descriptor);
    return result;
}

/* Lets whoever closes the socket last wait for what is unsent (SO_LINGER). */
static int linger(const char *argument) {
    (void)argument;
    struct linger length = {1, 1 << 30};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int result = outcome(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &length, sizeof length));
    close(descriptor);
    return result;
}

/* Gives one end of a pair of Unix sockets a name of ten bytes that other users see. */
static int bind_pair(const char *argument) {
    (void)argument;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return errno;
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0taskhost."};
    int result = outcome(bind(pair[0], (struct sockaddr *)&name, 12));
    close(pair[0]);
    close(pair[1]);
    return result;
}

/* As a client of a name server: an unbound socket sends, is given a port by that, and receives what is sent there. */
static int exchange_datagrams(const char *argument) {
    (void)argument;
    int asking = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), answering = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = local(9);
    socklen_t length = sizeof address;
    struct timeval patience = {10, 0};
    char byte;
    int result = outcome(sendto(asking, "?", 1, 0, (struct sockaddr *)&address, length));
    if (result == 0) result = outcome(getsockname(asking, (struct sockaddr *)&address, &length));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (result == 0) result = outcome(sendto(answering, "!", 1, 0, (struct sockaddr *)&address, length));
    if (result == 0) result = outcome(setsockopt(asking, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    if (result == 0) result = outcome(recv(asking, &byte, 1, 0));
    close(asking);
    close(answering);
    return result;
}

/* A pair that passes a descriptor. */
static int make_pair(const char *argument) {
    int pair[2];
    if (socketpair((int)number(argument, 0), (int)number(argument, 1) | SOCK_CLOEXEC, 0, pair) != 0) return errno;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec body = {"x", 1};
    struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &pair[0], sizeof(int));
    int result = outcome(sendmsg(pair[0], &message, MSG_NOSIGNAL));
    char byte;
    body.iov_base = &byte;
    if (result == 0) result = outcome(recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC));
    close(pair[0]);
    close(pair[1]);
    return result;
}

/* Another process's socket, through one end of a pair. */
static int pair_to_path(const char *argument) {
    int pair[2];
    if (socketpair(AF_UNIX, (int)number(argument, 0), 0, pair) != 0) return errno;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, part(argument, 1), sizeof address.sun_path - 1);
    int result = outcome(connect(pair[0], (struct sockaddr *)&address, sizeof address));
    close(pair[0]);
    close(pair[1]);
    return result;
}

/* 0: the name has an address; else 1000 and what getaddrinfo said. */
static int resolve(const char *name) {
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM};
    int result = getaddrinfo(name, "80", &hints, &found);
    if (result != 0) return 1000 + abs(result);
    freeaddrinfo(found);
    return 0;
}

const struct action network_actions[] = {
    {"socket", make}, {"socket-raw", make_raw}, {"connect", connect_stream}, {"connect-udp", connect_datagram}, {"bind", bind_stream},
    {"bind-udp", bind_datagram}, {"bind-raw", bind_raw}, {"choose-port", choose_port}, {"exchange-udp", exchange_datagrams},
    {"fast-open", connect_fast}, {"listen", listen_stream}, {"socketpair", make_pair}, {"pair-to-path", pair_to_path},
    {"resolve", resolve}, {"linger", linger}, {"bind-pair", bind_pair}, {0, 0},
};
