import CLibFFI

extension TypedArgumentType {
  var nativeTypes: [UnsafeMutablePointer<ffi_type>?] {
    switch self {
    case .i8: [taskhost_ffi_i8()]
    case .i16: [taskhost_ffi_i16()]
    case .i32: [taskhost_ffi_i32()]
    case .i64: [taskhost_ffi_i64()]
    case .u8, .bool: [taskhost_ffi_u8()]
    case .u16: [taskhost_ffi_u16()]
    case .u32: [taskhost_ffi_u32()]
    case .u64, .task: [taskhost_ffi_u64()]
    case .f32: [taskhost_ffi_f32()]
    case .f64: [taskhost_ffi_f64()]
    case .str: [taskhost_ffi_pointer()]
    case .bytes: [taskhost_ffi_pointer(), taskhost_ffi_u64()]
    }
  }
}

extension TypedResultType {
  var nativeType: UnsafeMutablePointer<ffi_type>? {
    switch self {
    case .void: taskhost_ffi_void()
    case .result: taskhost_ffi_i32()
    // Every other result type is also an argument type.
    default: TypedArgumentType(rawValue: rawValue)?.nativeTypes.first ?? nil
    }
  }
}
