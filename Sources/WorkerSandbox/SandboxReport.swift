/// What became of a confinement.
public struct SandboxReport: Sendable, Hashable {
  /// What of it this kernel cannot enforce, a sentence each.
  public var missing: [String] = []
  /// Entitlements that have no effect, because their path cannot be opened; a sentence each.
  public var ignored: [String] = []
}
