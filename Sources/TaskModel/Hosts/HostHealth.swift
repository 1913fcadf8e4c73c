/// Whether a host accepts requests and runs them.
public struct HostHealth: Sendable, Hashable {
  /// The phase of the host's life.
  public var phase: HostPhase
  /// Why the store cannot be used, as a sentence; nil if it can.
  public var storeProblem: String?

  /// Creates a health.
  public init(phase: HostPhase, storeProblem: String? = nil) {
    self.phase = phase
    self.storeProblem = storeProblem
  }

  /// Whether the host accepts requests and runs them.
  public var isWell: Bool { problem == nil }

  /// Why the host does not accept and run requests, as a sentence; nil if it does.
  public var problem: String? {
    guard phase == .launched else { return "the host is \(phase.rawValue)" }
    return storeProblem.map { "the store: \($0)" }
  }
}
