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

  /// Words for a message.
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
