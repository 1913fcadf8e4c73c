#include "power_loss.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, PATH_BYTES = 1024 };

/* Something done to a file that no sync has covered yet. */
typedef struct change {
  struct change *next;
  uint64_t number;
  int64_t offset; /* of a write; the new size of a truncation */
  int64_t length; /* of a write; -1: a truncation */
  unsigned char bytes[];
} change;

/* A file of a watched directory, by path; it outlives its handles. */
typedef struct image {
  struct image *next;
  char path[PATH_BYTES];
  unsigned char *bytes; /* on the disk for certain */
  int64_t size, capacity;
  int exists;    /* on the disk for certain */
  int forgotten; /* deleted: the next sync begins with an empty file */
  change *first, **last;
} image;

typedef struct directory {
  struct directory *next;
  char path[PATH_BYTES];
  int64_t syncs;
  int is_over; /* not watched any more; stays, as handles may point to it */
  image *images;
} directory;

typedef struct file {
  sqlite3_file base;
  directory *watched; /* NULL: passed through only */
  image *image;
  int is_journal; /* a journal or log whose first sync also syncs the directory, as SQLite's VFS for Unix does */
  sqlite3_file *real;
} file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static directory *directories;
static uint64_t last_number;
static sqlite3_vfs *system_vfs;

/* ---- With the lock held. ---- */

static directory *directory_of(const char *path) {
  for (directory *each = directories; each; each = each->next) {
    size_t length = strlen(each->path);
    if (!each->is_over && strncmp(path, each->path, length) == 0 && path[length] == '/' && !strchr(path + length + 1, '/')) return each;
  }
  return NULL;
}

static image *image_of(directory *where, const char *path) {
  for (image *each = where->images; each; each = each->next)
    if (strcmp(each->path, path) == 0) return each;
  if (strlen(path) >= PATH_BYTES) return NULL;
  image *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  strcpy(made->path, path);
  made->last = &made->first;
  made->next = where->images;
  return where->images = made;
}

static int resize(unsigned char **bytes, int64_t *size, int64_t *capacity, int64_t wanted) {
  if (wanted > *capacity) {
    int64_t room = wanted * 2;
    unsigned char *grown = realloc(*bytes, (size_t)room);
    if (!grown) return -1;
    *bytes = grown;
    *capacity = room;
  }
  if (wanted > *size) memset(*bytes + *size, 0, (size_t)(wanted - *size));
  *size = wanted;
  return 0;
}

static int note(image *of, const void *bytes, int64_t length, int64_t offset) {
  change *made = malloc(sizeof *made + (length > 0 ? (size_t)length : 0));
  if (!made) return -1;
  made->next = NULL;
  made->number = ++last_number;
  made->offset = offset;
  made->length = length;
  if (length > 0) memcpy(made->bytes, bytes, (size_t)length);
  *of->last = made;
  of->last = &made->next;
  return 0;
}

static void drop_changes(image *of) {
  while (of->first) {
    change *gone = of->first;
    of->first = gone->next;
    free(gone);
  }
  of->last = &of->first;
}

/* What was done up to `number` is on the disk now. */
static int settle(image *of, uint64_t number) {
  if (of->forgotten) of->size = 0;
  of->forgotten = 0;
  of->exists = 1;
  while (of->first && of->first->number <= number) {
    change *done = of->first;
    int64_t end = done->length < 0 ? done->offset : done->offset + done->length;
    if (done->length < 0 || end > of->size)
      if (resize(&of->bytes, &of->size, &of->capacity, end)) return -1;
    if (done->length > 0) memcpy(of->bytes + done->offset, done->bytes, (size_t)done->length);
    of->first = done->next;
    if (!of->first) of->last = &of->first;
    free(done);
  }
  return 0;
}

static uint64_t draw(uint64_t *state) {
  uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

/* What a loss of power leaves of a file; the caller frees it. NULL: no memory. */
static unsigned char *remains(const image *of, uint64_t *random, int torn, int64_t *size) {
  int64_t capacity = of->size + 1;
  unsigned char *bytes = malloc((size_t)capacity);
  if (!bytes) return NULL;
  *size = of->size;
  if (of->size) memcpy(bytes, of->bytes, (size_t)of->size);
  /* A deletion that may be undone leaves the old file or the new one, never a mixture. */
  if (torn <= 0 || of->forgotten) return bytes;
  for (const change *each = of->first; each; each = each->next) {
    if (each->length < 0) {
      if ((int)(draw(random) % 100) < torn && resize(&bytes, size, &capacity, each->offset)) return NULL;
      continue;
    }
    for (int64_t done = 0; done < each->length;) {
      int64_t start = each->offset + done;
      int64_t part = SECTOR - start % SECTOR;
      if (part > each->length - done) part = each->length - done;
      if ((int)(draw(random) % 100) < torn) {
        if (start + part > *size && resize(&bytes, size, &capacity, start + part)) return NULL;
        memcpy(bytes + start, each->bytes + done, (size_t)part);
      }
      done += part;
    }
  }
  return bytes;
}

/* ---- The methods of a file. ---- */

static file *own(sqlite3_file *base) { return (file *)base; }

static int file_close(sqlite3_file *base) {
  int code = own(base)->real->pMethods->xClose(own(base)->real);
  return code;
}

static int file_read(sqlite3_file *base, void *bytes, int length, sqlite3_int64 offset) {
  return own(base)->real->pMethods->xRead(own(base)->real, bytes, length, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int length, sqlite3_int64 offset) {
  file *of = own(base);
  if (!of->image) return of->real->pMethods->xWrite(of->real, bytes, length, offset);
  pthread_mutex_lock(&lock);
  int code = of->real->pMethods->xWrite(of->real, bytes, length, offset);
  if (code == SQLITE_OK && !of->watched->is_over && note(of->image, bytes, length, offset)) code = SQLITE_IOERR_NOMEM;
  pthread_mutex_unlock(&lock);
  return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  file *of = own(base);
  if (!of->image) return of->real->pMethods->xTruncate(of->real, size);
  pthread_mutex_lock(&lock);
  int code = of->real->pMethods->xTruncate(of->real, size);
  if (code == SQLITE_OK && !of->watched->is_over && note(of->image, NULL, -1, size)) code = SQLITE_IOERR_NOMEM;
  pthread_mutex_unlock(&lock);
  return code;
}

static int file_sync(sqlite3_file *base, int flags) {
  file *of = own(base);
  if (!of->image) return of->real->pMethods->xSync(of->real, flags);
  /* A sync covers what was written before it began; what another thread writes meanwhile may be late. */
  pthread_mutex_lock(&lock);
  uint64_t number = last_number;
  pthread_mutex_unlock(&lock);
  int code = of->real->pMethods->xSync(of->real, flags);
  if (code != SQLITE_OK) return code;
  pthread_mutex_lock(&lock);
  if (!of->watched->is_over && settle(of->image, number)) code = SQLITE_IOERR_NOMEM;
  if (of->is_journal) {
    for (image *each = of->watched->images; each; each = each->next)
      if (each->forgotten) each->exists = 0;
    of->is_journal = 0;
  }
  of->watched->syncs += 1;
  pthread_mutex_unlock(&lock);
  return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) { return own(base)->real->pMethods->xFileSize(own(base)->real, size); }
static int file_lock(sqlite3_file *base, int level) { return own(base)->real->pMethods->xLock(own(base)->real, level); }
static int file_unlock(sqlite3_file *base, int level) { return own(base)->real->pMethods->xUnlock(own(base)->real, level); }
static int file_reserved(sqlite3_file *base, int *is) { return own(base)->real->pMethods->xCheckReservedLock(own(base)->real, is); }
static int file_control(sqlite3_file *base, int code, void *argument) {
  return own(base)->real->pMethods->xFileControl(own(base)->real, code, argument);
}
static int file_sector(sqlite3_file *base) { return own(base)->real->pMethods->xSectorSize(own(base)->real); }
static int file_device(sqlite3_file *base) { return own(base)->real->pMethods->xDeviceCharacteristics(own(base)->real); }
static int file_shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **memory) {
  return own(base)->real->pMethods->xShmMap(own(base)->real, page, size, extend, memory);
}
static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  return own(base)->real->pMethods->xShmLock(own(base)->real, offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *base) { own(base)->real->pMethods->xShmBarrier(own(base)->real); }
static int file_shm_unmap(sqlite3_file *base, int remove) { return own(base)->real->pMethods->xShmUnmap(own(base)->real, remove); }

/* Version 2: no memory-mapped reading and writing, so that every write is seen. */
static const sqlite3_io_methods methods = {
    2,           file_close,    file_read,    file_write,   file_truncate, file_sync,    file_size,     file_lock,        file_unlock,
    file_reserved, file_control, file_sector, file_device, file_shm_map,  file_shm_lock, file_shm_barrier, file_shm_unmap, NULL, NULL};

/* ---- The methods of the VFS. ---- */

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags, int *out) {
  (void)vfs;
  file *of = own(base);
  memset(of, 0, sizeof *of);
  of->real = (sqlite3_file *)(of + 1);
  int code = system_vfs->xOpen(system_vfs, name, of->real, flags, out);
  if (code != SQLITE_OK) {
    if (of->real->pMethods) of->real->pMethods->xClose(of->real);
    return code;
  }
  base->pMethods = &methods;
  if (!name) return code;
  of->is_journal = (flags & SQLITE_OPEN_CREATE) && (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL));
  pthread_mutex_lock(&lock);
  of->watched = directory_of(name);
  if (of->watched && !(of->image = image_of(of->watched, name))) code = SQLITE_NOMEM;
  pthread_mutex_unlock(&lock);
  return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int synced) {
  (void)vfs;
  pthread_mutex_lock(&lock);
  int code = system_vfs->xDelete(system_vfs, name, synced);
  directory *where = directory_of(name);
  image *of = where && code == SQLITE_OK ? image_of(where, name) : NULL;
  if (of) {
    drop_changes(of);
    of->forgotten = 1;
    if (synced) of->exists = 0;
  }
  pthread_mutex_unlock(&lock);
  return code;
}

static sqlite3_vfs own_vfs;

int power_loss_register(void) {
  pthread_mutex_lock(&lock);
  int code = SQLITE_OK;
  if (!system_vfs) {
    /* sqlite3_vfs_find initializes the library. */
    system_vfs = sqlite3_vfs_find(NULL);
    if (system_vfs) {
      own_vfs = *system_vfs;
      own_vfs.zName = "powerloss";
      own_vfs.pNext = NULL;
      own_vfs.szOsFile = (int)sizeof(file) + system_vfs->szOsFile;
      own_vfs.xOpen = vfs_open;
      own_vfs.xDelete = vfs_delete;
      code = sqlite3_vfs_register(&own_vfs, 1);
    } else {
      code = SQLITE_ERROR;
    }
  }
  pthread_mutex_unlock(&lock);
  return code;
}

/* ---- What the tests call. ---- */

int power_loss_watch(const char *path) {
  if (strlen(path) >= PATH_BYTES) return -1;
  directory *made = calloc(1, sizeof *made);
  if (!made) return -1;
  strcpy(made->path, path);
  pthread_mutex_lock(&lock);
  made->next = directories;
  directories = made;
  pthread_mutex_unlock(&lock);
  return 0;
}

static directory *find(const char *path) {
  directory *each = directories;
  while (each && (each->is_over || strcmp(each->path, path) != 0)) each = each->next;
  return each;
}

void power_loss_unwatch(const char *path) {
  pthread_mutex_lock(&lock);
  directory *gone = find(path);
  if (gone) gone->is_over = 1;
  for (image *of = gone ? gone->images : NULL; of; of = of->next) {
    drop_changes(of);
    free(of->bytes);
    of->bytes = NULL;
    of->size = of->capacity = 0;
  }
  pthread_mutex_unlock(&lock);
}

int power_loss_strike(const char *path, const char *target, uint64_t seed, int torn) {
  int written = 0;
  pthread_mutex_lock(&lock);
  directory *where = find(path);
  for (image *of = where ? where->images : NULL; of && written >= 0; of = of->next) {
    if (!of->exists) continue;
    int64_t size = 0;
    unsigned char *bytes = remains(of, &seed, torn, &size);
    char name[2 * PATH_BYTES];
    int length = snprintf(name, sizeof name, "%s%s", target, strrchr(of->path, '/'));
    FILE *out = bytes && length > 0 && length < (int)sizeof name ? fopen(name, "wb") : NULL;
    written = out && fwrite(bytes, 1, (size_t)size, out) == (size_t)size ? written + 1 : -1;
    if (out && fclose(out) != 0) written = -1;
    free(bytes);
  }
  pthread_mutex_unlock(&lock);
  return written;
}

int64_t power_loss_syncs(const char *path) {
  pthread_mutex_lock(&lock);
  directory *where = find(path);
  int64_t syncs = where ? where->syncs : -1;
  pthread_mutex_unlock(&lock);
  return syncs;
}
