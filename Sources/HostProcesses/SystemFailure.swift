public import Glibc

/// What the system did not give.
public struct SystemFailure: Error, Sendable {
  /// What was asked for, as in "a pipe".
  public let what: String
  /// Its error, as of `errno`.
  public let code: Int32

  /// A failure with that error, by default the thread's last one.
  public init(_ what: String, _ code: Int32 = errno) {
    self.what = what
    self.code = code
  }

  /// The error in the system's words.
  public var reason: String { String(cString: strerror(code)) }
}
