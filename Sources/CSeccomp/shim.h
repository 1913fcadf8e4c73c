/* libseccomp, from the system (Debian: libseccomp-dev). */
#include <seccomp.h>
