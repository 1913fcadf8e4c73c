/// What this kernel offers for confining a process.
public struct SandboxSupport: Sendable, Hashable {
  /// The Landlock ABI in use; 0: none.
  public let landlockABI: Int
  /// Whether there are seccomp filters.
  public let seccomp: Bool
  /// What cannot be enforced, whatever the confinement, a sentence each; empty: nothing is lacking.
  public let missing: [String]
}
