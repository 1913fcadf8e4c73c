/// The reason why a host cannot start.
public struct HostFailure: Error, Sendable, CustomStringConvertible {
  /// Exit codes of sysexits.h.
  public enum ExitCode: Int32, Sendable {
    /// A permitted plugin crashed or timed out at launch; a retry may help (`EX_TEMPFAIL`).
    case temporary = 75
    /// The configuration, the state directory or a plugin prevents the launch (`EX_CONFIG`).
    case configuration = 78
  }

  /// The exit code for the process.
  public var exitCode: ExitCode
  /// One line for each problem: the observation and the remedy.
  public var message: String

  /// Creates a failure.
  public init(_ exitCode: ExitCode, _ message: String) {
    self.exitCode = exitCode
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
