/*
 * syncs.so - preloaded into the host and into the raw limits: counts the calls that make data durable.
 *
 * The count is a 64-bit number in the file that BENCH_SYNCS names, mapped and shared, so that it can be read while the process runs and
 * after it was killed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t none;
static _Atomic uint64_t *count = &none;
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void begin(void) {
  *(void **)&real_fsync = dlsym(RTLD_NEXT, "fsync");
  *(void **)&real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char *path = getenv("BENCH_SYNCS");
  const int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) count = mapped;
  close(file);
}

int fsync(int file) {
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  return real_fsync(file);
}

int fdatasync(int file) {
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  return real_fdatasync(file);
}
