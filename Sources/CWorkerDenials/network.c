/* Functions of the C library that create and connect sockets. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "denials.h"

#if DENIALS_OFF

void denials_prepare_network(void) {}

#else

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#define FUNCTIONS(X) \
    X(socket) X(connect) X(bind) X(listen)
INTERPOSE(network)

/* After a failed socket. */
static void made(int family, int type) {
    const struct taskhost_sandbox_filter *confined = denials_suspect(EPERM, EPERM);
    if (confined == NULL) return;
    int kind = type & 0xf;
    if (family == AF_UNIX) {
        denials_tell("denied: a Unix socket: no entitlement allows it");
    } else if (family != AF_INET && family != AF_INET6) {
        denials_tell("denied: a socket of family %d: no entitlement allows it", family);
    } else if (kind == SOCK_STREAM && confined->network == TASKHOST_SANDBOX_NO_NETWORK) {
        denials_tell("denied: a TCP socket: set entitlements.network = \"connect\", or list the ports");
    } else if (kind == SOCK_DGRAM && confined->network != TASKHOST_SANDBOX_CONNECT) {
        denials_tell("denied: a UDP socket: set entitlements.network = \"connect\"");
    } else {
        denials_tell("denied: a socket that is neither TCP nor UDP: no entitlement allows it");
    }
}

/* The port that an address names, and whether it names one. */
static bool port_of(const struct sockaddr *address, socklen_t length, unsigned *port) {
    if (address == NULL || length < sizeof(struct sockaddr_in)) return false;
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return false;
    /* The port has the same offset in both families. */
    in_port_t value;
    memcpy(&value, (const char *)address + offsetof(struct sockaddr_in, sin_port), sizeof value);
    *port = ntohs(value);
    return true;
}

static bool is_stream(int descriptor) {
    int error = errno, type = 0;
    socklen_t length = sizeof type;
    bool stream = getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
    errno = error;
    return stream;
}

EXPORTED int socket(int family, int type, int protocol) {
    int result = REAL(socket)(family, type, protocol);
    if (result < 0) made(family, type);
    return result;
}

EXPORTED int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    int result = REAL(connect)(descriptor, address, length);
    if (result == 0) return 0;
    const struct taskhost_sandbox_filter *confined = denials_suspect(EACCES, EACCES);
    unsigned port;
    if (confined != NULL && confined->network == TASKHOST_SANDBOX_PORTS && port_of(address, length, &port) && is_stream(descriptor)) {
        denials_tell("denied: connect to port %u: add it to the list in entitlements.network, or set that to \"connect\"", port);
    }
    return result;
}

EXPORTED int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    int result = REAL(bind)(descriptor, address, length);
    if (result == 0) return 0;
    unsigned port;
    if (denials_suspect(EPERM, EPERM) != NULL && port_of(address, length, &port)) {
        denials_tell("denied: bind to port %u: no entitlement allows a plugin to serve", port);
    }
    return result;
}

EXPORTED int listen(int descriptor, int backlog) {
    int result = REAL(listen)(descriptor, backlog);
    if (result < 0 && denials_suspect(EPERM, EPERM) != NULL) denials_tell("denied: listen: no entitlement allows a plugin to serve");
    return result;
}

#endif
