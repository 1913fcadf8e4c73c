#include "typed_fixtures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What the show functions return: the calling thread's own. */
static _Thread_local char shown[512];

/* i8 … u64, in this order. */
static const char *show_integers(int8_t a, int16_t b, int32_t c, int64_t d, uint8_t e, uint16_t f, uint32_t g, uint64_t h) {
  snprintf(shown, sizeof shown, "%d %d %d %lld %u %u %u %llu", a, b, c, (long long)d, e, f, g, (unsigned long long)h);
  return shown;
}

static const char *show_others(float a, double b, bool c, const char *d, const void *e, size_t length, uint64_t task) {
  snprintf(shown, sizeof shown, "%.9g %.17g %d %s %s %zu %llu", a, b, c, d ? d : "NULL", e ? "memory" : "NULL", length,
           (unsigned long long)task);
  return shown;
}

/* More of both classes than there are registers for them: 6 integers, 8 floats. */
static const char *show_many(int64_t i1, double f1, int32_t i2, float f2, int8_t i3, double f3, uint64_t i4, float f4, const char *i5,
                             double f5, const void *i6, size_t i7, float f6, uint8_t i8, double f7, bool i9, float f8, int16_t i10,
                             double f9, uint64_t i11, float f10) {
  const unsigned char *bytes = i6;
  unsigned sum = 0;
  for (size_t index = 0; index < i7; index += 1) sum += bytes[index];
  snprintf(shown, sizeof shown, "%lld %d %d %llu %s %u %zu %u %d %d %llu | %g %g %g %g %g %g %g %g %g %g", (long long)i1, i2, i3,
           (unsigned long long)i4, i5, sum, i7, i8, i9, i10, (unsigned long long)i11, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10);
  return shown;
}

/* The results leave garbage in the upper half of the register wherever the compiler likes: only the type's own bits count. */
static int8_t return_i8(int8_t value) { return value; }
static int16_t return_i16(int16_t value) { return value; }
static int32_t return_i32(int32_t value) { return value; }
static int64_t return_i64(int64_t value) { return value; }
static uint8_t return_u8(uint8_t value) { return value; }
static uint16_t return_u16(uint16_t value) { return value; }
static uint32_t return_u32(uint32_t value) { return value; }
static uint64_t return_u64(uint64_t value) { return value; }
static int8_t low_byte(int64_t value) { return (int8_t)value; }
static float return_f32(float value) { return value; }
static double return_f64(double value) { return value; }
static double divide(double left, double right) { return left / right; }
static bool return_bool(bool value) { return value; }
static const char *return_str(const char *value) { return value; }
static int32_t return_result(int32_t value, uint64_t task) { return task == 77 ? value : -1; }

static void return_void(void) {}

/* A text that is no UTF-8. */
static const char *return_latin1(void) { return "caf\xe9\x01"; }

/* 100,000 times "é". */
static const char *return_long(void) {
  static char text[200001];
  for (size_t index = 0; index < 200000; index += 2) memcpy(text + index, "\xc3\xa9", 2);
  return text;
}

/* Whether the argument's memory ends with a 0 byte and begins aligned. */
static bool is_terminated(const char *bytes, size_t length) { return bytes && !bytes[length] && ((uintptr_t)bytes & 15) == 0; }

static int32_t sum_32(int32_t a1, int32_t a2, int32_t a3, int32_t a4, int32_t a5, int32_t a6, int32_t a7, int32_t a8, int32_t a9,
                      int32_t a10, int32_t a11, int32_t a12, int32_t a13, int32_t a14, int32_t a15, int32_t a16, int32_t a17,
                      int32_t a18, int32_t a19, int32_t a20, int32_t a21, int32_t a22, int32_t a23, int32_t a24, int32_t a25,
                      int32_t a26, int32_t a27, int32_t a28, int32_t a29, int32_t a30, int32_t a31, int32_t a32) {
  return a1 + 2 * a2 + 3 * a3 + 4 * a4 + 5 * a5 + 6 * a6 + 7 * a7 + 8 * a8 + 9 * a9 + 10 * a10 + 11 * a11 + 12 * a12 + 13 * a13 +
         14 * a14 + 15 * a15 + 16 * a16 + 17 * a17 + 18 * a18 + 19 * a19 + 20 * a20 + 21 * a21 + 22 * a22 + 23 * a23 + 24 * a24 +
         25 * a25 + 26 * a26 + 27 * a27 + 28 * a28 + 29 * a29 + 30 * a30 + 31 * a31 + 32 * a32;
}

static const struct {
  const char *name;
  typed_fixture_function function;
} table[] = {
#define ENTRY(name) {#name, (typed_fixture_function)name}
    ENTRY(show_integers), ENTRY(show_others), ENTRY(show_many),     ENTRY(return_i8),    ENTRY(return_i16),  ENTRY(return_i32),
    ENTRY(return_i64),    ENTRY(return_u8),   ENTRY(return_u16),    ENTRY(return_u32),   ENTRY(return_u64),  ENTRY(low_byte),
    ENTRY(return_f32),    ENTRY(return_f64),  ENTRY(divide),        ENTRY(return_bool),  ENTRY(return_str),  ENTRY(return_result),
    ENTRY(return_void),   ENTRY(return_latin1), ENTRY(return_long), ENTRY(is_terminated), ENTRY(sum_32),
};

typed_fixture_function typed_fixture(const char *name) {
  for (size_t index = 0; index < sizeof table / sizeof *table; index += 1) {
    if (strcmp(table[index].name, name) == 0) return table[index].function;
  }
  return NULL;
}
