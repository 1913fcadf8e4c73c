public import Glibc

/// Why the system could not provide something.
public struct SystemFailure: Error, Sendable {
  /// What was requested, such as "a pipe".
  public let what: String
  /// The error number, a value of `errno`.
  public let code: Int32

  /// Creates a failure with that error number, by default the last one of the thread.
  public init(_ what: String, _ code: Int32 = errno) {
    self.what = what
    self.code = code
  }

  /// The system's text for the error.
  public var reason: String { String(cString: strerror(code)) }
}
