/* libcrypto of OpenSSL 3, from the system (Debian: libssl-dev). */
#ifndef TASKHOST_OPENSSL_SHIM_H
#define TASKHOST_OPENSSL_SHIM_H

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#endif
