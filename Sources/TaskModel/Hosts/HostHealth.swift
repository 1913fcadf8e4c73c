/// Whether a host takes requests and runs them.
public struct HostHealth: Sendable, Hashable {
  /// Where it is in its life.
  public var phase: HostPhase
  /// Why its store cannot be used, a sentence; nil if it can.
  public var storeProblem: String?

  /// A health as given.
  public init(phase: HostPhase, storeProblem: String? = nil) {
    self.phase = phase
    self.storeProblem = storeProblem
  }

  /// Whether it does.
  public var isWell: Bool { problem == nil }

  /// Why it does not, a sentence; nil if it does.
  public var problem: String? {
    guard phase == .launched else { return "the host is \(phase.rawValue)" }
    return storeProblem.map { "the store: \($0)" }
  }
}
