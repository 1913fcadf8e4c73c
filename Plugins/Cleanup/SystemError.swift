internal import Glibc

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
