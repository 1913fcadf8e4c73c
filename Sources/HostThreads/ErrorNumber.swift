import Glibc

/// Why a system call failed.
public struct ErrorNumber: Error, Sendable, Hashable, CustomStringConvertible {
  /// The value of `errno`.
  public let code: Int32

  /// Creates the error with this number.
  public init(_ code: Int32) { self.code = code }

  /// The error of the calling thread's last system call.
  public static var last: ErrorNumber { ErrorNumber(errno) }

  /// The system's text for the error.
  public var description: String { String(cString: strerror(code)) }
}
