/* Shared declarations of the interposed functions. */
#ifndef DENIALS_H
#define DENIALS_H

#include "taskhost_denials.h"
#include "taskhost_sandbox.h"

#include <stdatomic.h>
#include <stddef.h>

/* Sanitizers define functions with these names themselves. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define DENIALS_OFF 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define DENIALS_OFF 1
#endif
#endif
#ifndef DENIALS_OFF
#define DENIALS_OFF 0
#endif

#define EXPORTED __attribute__((visibility("default"), used))

/*
 * A file of interposed functions lists them in FUNCTIONS(X), followed by one INTERPOSE(topic). REAL(name) is the C library's function.
 */
#define DENIALS_INDEX(name) INDEX_##name,
#define DENIALS_NAME(name) #name,
#define INTERPOSE(topic)                                                                                \
    enum { FUNCTIONS(DENIALS_INDEX) COUNT };                                                            \
    static const char *const names[] = {FUNCTIONS(DENIALS_NAME)};                                       \
    static _Atomic(void *) places[COUNT];                                                               \
    void denials_prepare_##topic(void) {                                                                \
        for (int index = 0; index < COUNT; index++) denials_real(&places[index], names[index]);         \
    }
#define REAL(name) ((__typeof__(&name))denials_real(&places[INDEX_##name], names[INDEX_##name]))

void denials_prepare_files(void);
void denials_prepare_network(void);
void denials_prepare_processes(void);

/* The function in `place`; the first call looks `name` up in the C library. NULL if there is none (then nobody can call it). */
void *denials_real(_Atomic(void *) *place, const char *name);

/* The maximum length of a reported path and of a sentence in bytes. */
enum { DENIALS_PATH = 512, DENIALS_SENTENCE = 1400 };

/* The maximum length of a resolved path in bytes. */
enum { RESOLVED_PATH = 2048 };

/* Whether the call that just failed may have been denied by the sandbox: the process is confined, and errno is `one` or `other`. */
const struct taskhost_sandbox_filter *denials_suspect(int one, int other);

/* Makes `path` absolute if possible, and cuts it to the size of `buffer`. */
const char *denials_absolute(int directory, const char *path, char buffer[DENIALS_PATH]);

/* Whether the ordinary permissions allow `mode` (R_OK, W_OK, X_OK) on `path`. Sets errno if not. */
bool denials_permitted(int directory, const char *path, int mode);

/* The same for creating or removing an entry in the folder of `path`. */
bool denials_permitted_in_folder(int directory, const char *path);

/* Reduces an absolute path to its folder. */
void denials_folder(char *path);

/*
 * The advice for a denial on `path`, with links resolved. An entitlement would have to name the folder of `path` if `folder` is true, and
 * otherwise `path`; for writing if `writing` is true.
 */
enum taskhost_sandbox_advice denials_advice(int directory, const char *path, bool folder, bool writing);

/* The end of the sentence: `advice`, or why there is none. NULL if nothing must be reported. */
const char *denials_answer(enum taskhost_sandbox_advice found, const char *advice);

/* Reports that `verb` was denied on `path`, with `advice` if denials_advice allows it. */
void denials_tell_path(
    const char *verb, int directory, const char *path, const char *purpose, bool folder, bool writing, const char *advice);

/* Reports a sentence formatted like printf. Keeps errno. */
void denials_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
