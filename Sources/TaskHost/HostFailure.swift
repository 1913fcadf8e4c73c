/// Why a host cannot start.
public struct HostFailure: Error, Sendable, CustomStringConvertible {
  /// What the process exits with, as sysexits.h has it.
  public enum ExitCode: Int32, Sendable {
    /// A permitted plugin crashed or timed out at launch; another try may help (`EX_TEMPFAIL`).
    case temporary = 75
    /// The configuration, the state directory or the plugins make the launch impossible (`EX_CONFIG`).
    case configuration = 78
  }

  /// What the process exits with.
  public var exitCode: ExitCode
  /// What was seen and what to do, a line each.
  public var message: String

  /// A failure as given.
  public init(_ exitCode: ExitCode, _ message: String) {
    self.exitCode = exitCode
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
