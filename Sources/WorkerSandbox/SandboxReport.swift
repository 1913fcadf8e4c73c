/// The result of a confinement.
public struct SandboxReport: Sendable, Hashable {
  /// Sentences about what this kernel cannot enforce.
  public var missing: [String] = []
  /// Sentences about entitlements without effect, because their path cannot be opened.
  public var ignored: [String] = []
}
