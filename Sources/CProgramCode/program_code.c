#define _GNU_SOURCE
#include "taskhost_program_code.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct excluded {
  const char *const *folders;
  size_t count;
};

static bool is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static bool has_text_relocations(const struct dl_phdr_info *object) {
  for (ElfW(Half) index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[index];
    if (header->p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + header->p_vaddr); entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0)) return true;
    }
  }
  return false;
}

static int give_back(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  const struct excluded *excluded = context;
  // The program itself has no name. One without a slash is the kernel's, and has no file.
  if (object->dlpi_name[0] != '\0' && strchr(object->dlpi_name, '/') == NULL) return 0;
  for (size_t index = 0; index < excluded->count; index++) {
    if (is_below(object->dlpi_name, excluded->folders[index])) return 0;
  }
  if (has_text_relocations(object)) return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (ElfW(Half) index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[index];
    if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
    uintptr_t start = (object->dlpi_addr + header->p_vaddr) & ~(page - 1);
    uintptr_t end = (object->dlpi_addr + header->p_vaddr + header->p_memsz + page - 1) & ~(page - 1);
    // A page that cannot be given back simply stays.
    (void)madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void taskhost_program_code_give_back(const char *const *excluded, size_t count) {
  struct excluded folders = {excluded, count};
  (void)dl_iterate_phdr(give_back, &folders);
}
