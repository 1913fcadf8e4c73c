/// Why a process could not be confined. It may be confined in part, and must not run a plugin.
public struct SandboxFailure: Error, Hashable, CustomStringConvertible {
  /// What was being done.
  public let step: String
  /// What the system answered; 0: nothing was tried.
  public let errno: Int32
  /// What to do next.
  public let remedy: String

  /// A sentence with all of it.
  public var description: String {
    errno == 0 ? "the sandbox: \(step) (\(remedy))" : "the sandbox: \(step): \(systemErrorText(errno)) (\(remedy))"
  }
}
