/// The kernel's support for confining a process.
public struct SandboxSupport: Sendable, Hashable {
  /// The Landlock ABI in use; 0 for none.
  public let landlockABI: Int
  /// Whether there are seccomp filters.
  public let seccomp: Bool
  /// Sentences about what this kernel cannot enforce for any confinement.
  public let missing: [String]
}
