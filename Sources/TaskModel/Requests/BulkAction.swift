/// What can be done to many requests at once.
public enum BulkAction: String, Sendable, CaseIterable {
  /// Dead letters become pending again.
  case retry
  /// Live requests are cancelled; running ones are asked to stop.
  case cancel
  /// Waiting requests are postponed.
  case snooze
  /// Dead letters are discarded.
  case discard

  /// The states in which a request can be meant; others are not touched.
  public var states: [RequestState] {
    switch self {
    case .retry, .discard: [.failed]
    case .cancel: [.blocked, .pending, .claimed, .running]
    case .snooze: [.blocked, .pending, .claimed]
    }
  }

  /// Whether the oldest requests come first. A retry begins with predecessors, which bring back what failed because of them; a cancellation
  /// with followers, which would otherwise fail because of their predecessors.
  public var goesOldestFirst: Bool { self != .cancel }
}
