/// Why a process could not be confined. It can be partly confined, and must not run a plugin.
public struct SandboxFailure: Error, Hashable, CustomStringConvertible {
  /// The failed step.
  public let step: String
  /// The error of the system; 0 if nothing was tried.
  public let errno: Int32
  /// What to do next.
  public let remedy: String

  /// A sentence with all of it.
  public var description: String {
    errno == 0 ? "the sandbox: \(step) (\(remedy))" : "the sandbox: \(step): \(systemErrorText(errno)) (\(remedy))"
  }
}
