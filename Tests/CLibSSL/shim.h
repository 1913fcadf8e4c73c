/* libssl of OpenSSL 3, from the system (Debian: libssl-dev), for the tests' TLS server. */
#ifndef TASKHOST_LIBSSL_SHIM_H
#define TASKHOST_LIBSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#endif
