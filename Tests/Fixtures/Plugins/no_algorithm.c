/*
 * Not a plugin: preloaded into the host, it makes libcrypto one that lacks the algorithm which TASKHOST_TEST_NO_ALGORITHM names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int lacks(const char *name) {
  const char *missing = getenv("TASKHOST_TEST_NO_ALGORITHM");
  return missing && strcmp(missing, name) == 0;
}

void *EVP_CIPHER_fetch(void *context, const char *name, const char *properties) {
  void *(*next)(void *, const char *, const char *) = (void *(*)(void *, const char *, const char *))dlsym(RTLD_NEXT, "EVP_CIPHER_fetch");
  return lacks(name) ? NULL : next(context, name, properties);
}

void *EVP_MD_fetch(void *context, const char *name, const char *properties) {
  void *(*next)(void *, const char *, const char *) = (void *(*)(void *, const char *, const char *))dlsym(RTLD_NEXT, "EVP_MD_fetch");
  return lacks(name) ? NULL : next(context, name, properties);
}
