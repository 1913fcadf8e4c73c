#ifndef TASKHOST_PROGRAM_CODE_H
#define TASKHOST_PROGRAM_CODE_H

#include <stddef.h>

// Gives back the resident pages of the process's program code and constants: many are needed only at start. One that is still needed
// returns from the page cache at its next use, which takes some microseconds once. Needs neither /proc nor memory, so it works in a sandbox.
//
// Nothing is lost: pages that cannot be written are the same as in the file. Objects whose code was changed while they were loaded (text
// relocations) are left alone.
//
// - excluded: Folders without a slash at the end, whose objects are left alone. NULL if count is 0.
void taskhost_program_code_give_back(const char *const *excluded, size_t count);

#endif
