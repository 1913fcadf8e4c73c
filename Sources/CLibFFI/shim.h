/* libffi, from the system (Debian: libffi-dev). */
#ifndef TASKHOST_LIBFFI_SHIM_H
#define TASKHOST_LIBFFI_SHIM_H

#include <ffi.h>

/* The addresses of libffi's type descriptors, which never change although libffi declares them without `const`. Usable from any thread. */
static inline ffi_type *taskhost_ffi_void(void) { return &ffi_type_void; }
static inline ffi_type *taskhost_ffi_i8(void) { return &ffi_type_sint8; }
static inline ffi_type *taskhost_ffi_i16(void) { return &ffi_type_sint16; }
static inline ffi_type *taskhost_ffi_i32(void) { return &ffi_type_sint32; }
static inline ffi_type *taskhost_ffi_i64(void) { return &ffi_type_sint64; }
static inline ffi_type *taskhost_ffi_u8(void) { return &ffi_type_uint8; }
static inline ffi_type *taskhost_ffi_u16(void) { return &ffi_type_uint16; }
static inline ffi_type *taskhost_ffi_u32(void) { return &ffi_type_uint32; }
static inline ffi_type *taskhost_ffi_u64(void) { return &ffi_type_uint64; }
static inline ffi_type *taskhost_ffi_f32(void) { return &ffi_type_float; }
static inline ffi_type *taskhost_ffi_f64(void) { return &ffi_type_double; }
static inline ffi_type *taskhost_ffi_pointer(void) { return &ffi_type_pointer; }

#endif
