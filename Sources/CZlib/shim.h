/* zlib, from the system (Debian: zlib1g-dev). */
#ifndef TASKHOST_ZLIB_SHIM_H
#define TASKHOST_ZLIB_SHIM_H

#include <zlib.h>

#endif
