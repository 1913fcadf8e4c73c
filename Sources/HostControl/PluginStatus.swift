public import TaskModel

/// A plugin file and what became of it.
public struct PluginStatus: Sendable, Hashable {
  /// Where it stands.
  public enum Standing: String, Sendable, CaseIterable {
    /// Registered, takes runs.
    case registered
    /// Registered, takes no runs: a thread it overran is still in its hands.
    case suspended
    /// Not loaded, or not registered; `reason` says why.
    case refused
  }

  /// The file's path.
  public var file: String
  /// Where it stands.
  public var standing: Standing
  /// What it registered; nil when refused.
  public var contract: HandlerContract?
  /// "thread" or "process".
  public var isolation: String
  /// Its runs now.
  public var running: Int
  /// Why it is refused or suspended: a machine-readable code and a sentence.
  public var reason: (code: String, message: String)? { reasonCode.map { ($0, reasonMessage ?? "") } }
  /// The code of `reason`.
  public var reasonCode: String?
  /// The sentence of `reason`.
  public var reasonMessage: String?

  /// A status as given.
  public init(
    file: String, standing: Standing, contract: HandlerContract? = nil, isolation: String = "thread", running: Int = 0,
    reasonCode: String? = nil, reasonMessage: String? = nil
  ) {
    self.file = file
    self.standing = standing
    self.contract = contract
    self.isolation = isolation
    self.running = running
    self.reasonCode = reasonCode
    self.reasonMessage = reasonMessage
  }
}
