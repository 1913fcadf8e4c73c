#define _GNU_SOURCE
#include "CTransfers.h"

#include <fcntl.h>

void taskhost_transfers_begin_writing(int32_t descriptor, int64_t offset, int64_t count) {
  (void)sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}
