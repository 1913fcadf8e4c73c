/* Compiles the header's static assertions; a C target also needs one source file. */
#include "taskhost.h"
