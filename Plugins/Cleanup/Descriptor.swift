internal import Glibc

/// Owns an open descriptor and closes it at the end of its life.
struct Descriptor: ~Copyable {
  /// Borrowed: callers must not close it.
  let raw: Int32

  /// Takes ownership of a descriptor; throws if the result is a negative `errno`.
  init(_ result: Int32) throws(SystemError) {
    guard result >= 0 else { throw SystemError(code: -result) }
    raw = result
  }

  deinit { close(raw) }
}

struct SystemError: Error, CustomStringConvertible, Equatable {
  /// The `errno`, positive.
  let code: Int32

  /// The error of this thread's last system call.
  static var last: SystemError { SystemError(code: errno) }

  var description: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else { return "error \(code)" }
      return String(cString: start)
    }
  }
}
