import Glibc

/// Why a call of the system failed.
public struct ErrorNumber: Error, Sendable, Hashable, CustomStringConvertible {
  /// As in `errno`.
  public let code: Int32

  /// The error with this number.
  public init(_ code: Int32) { self.code = code }

  /// Why this thread's last call failed.
  public static var last: ErrorNumber { ErrorNumber(errno) }

  /// The system's words for it.
  public var description: String { String(cString: strerror(code)) }
}
