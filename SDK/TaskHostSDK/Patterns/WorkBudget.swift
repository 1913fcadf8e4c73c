/// The limits of one run: items, time and bytes, in any combination. `nil` means no limit.
///
/// A run that stops early and returns ``TaskResult/snooze(after:)`` costs no attempt and makes room for others; a run that expires must
/// hurry. So work always stops ``margin`` before expiration, whatever the limits.
///
/// ```swift
/// let budget = WorkBudget(items: 500, time: .seconds(20), bytes: 50_000_000)
/// ```
public struct WorkBudget: Sendable, Equatable {
  /// Items, above zero.
  public var items: Int?

  /// Time since the work began, on the host's clock.
  public var time: Duration?

  /// Bytes, above zero, as the work itself counts them.
  public var bytes: Int?

  /// Time reserved before expiration, for the checkpoint and for cleaning up. It is limited to a quarter of the remaining time when the
  /// work begins, so that short runs work too.
  public var margin: Duration

  /// Creates a budget; omitted values are not limited. The default margin is 2 s.
  public init(items: Int? = nil, time: Duration? = nil, bytes: Int? = nil, margin: Duration = .seconds(2)) {
    self.items = items
    self.time = time
    self.bytes = bytes
    self.margin = margin
  }
}

/// The limit that ended the work of a run early.
public enum WorkLimit: Sendable, Equatable, CustomStringConvertible {
  /// The budget's items are done.
  case items
  /// The budget's time is over.
  case time
  /// The budget's bytes are spent.
  case bytes
  /// The run is about to expire.
  case margin
  /// The run has expired, or its task was cancelled.
  case expired

  /// The limit, in words for a message.
  public var description: String {
    switch self {
    case .items: "its items are done"
    case .time: "its time is over"
    case .bytes: "its bytes are spent"
    case .margin: "the run is about to expire"
    case .expired: "the run has expired"
    }
  }
}
