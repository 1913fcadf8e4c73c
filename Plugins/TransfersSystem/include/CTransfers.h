/* What the transfers plugin needs of Linux that Swift cannot reach: sync_file_range is not imported. */
#ifndef TASKHOST_CTRANSFERS_H
#define TASKHOST_CTRANSFERS_H

#include <stdint.h>

/* Linked into the plugin, and not visible outside. */
#define TRANSFERS_INTERNAL __attribute__((visibility("hidden")))

#ifdef __cplusplus
extern "C" {
#endif

/* Has the kernel begin to write `count` bytes of a file from `offset` to the disk, without waiting for it: a later sync waits for less. It
   promises nothing, and what fails is told by that sync. Any thread. */
TRANSFERS_INTERNAL void taskhost_transfers_begin_writing(int32_t descriptor, int64_t offset, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
