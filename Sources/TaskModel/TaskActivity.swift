/// What an identifier's handler did last, and when it is to run again.
public struct TaskActivity: Sendable, Hashable {
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// How its last run ended; nil: it never ran.
  public var lastOutcome: RunOutcome?
  /// Whether that run's time was up, or it stalled, whatever it returned then.
  public var expired: Bool
  /// When that run ended.
  public var lastEnded: WallTime?
  /// What that run said.
  public var lastMessage: String?
  /// When its next request is due; nil: none is.
  public var nextStart: WallTime?

  /// An activity as given; by default one of which nothing ran.
  public init(
    identifier: TaskIdentifier, lastOutcome: RunOutcome? = nil, expired: Bool = false, lastEnded: WallTime? = nil,
    lastMessage: String? = nil, nextStart: WallTime? = nil
  ) {
    self.identifier = identifier
    self.lastOutcome = lastOutcome
    self.expired = expired
    self.lastEnded = lastEnded
    self.lastMessage = lastMessage
    self.nextStart = nextStart
  }
}
