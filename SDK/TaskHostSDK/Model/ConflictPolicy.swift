import CTaskHost

/// What a submission does when a live request of the identifier holds its unique key.
public enum ConflictPolicy: Sendable, Equatable {
  /// Every submission creates a request.
  case none
  /// Keep the holder, even while it runs, and drop this one.
  case keep
  /// Cancel the holder; this one starts only after a run of it has ended.
  case replace
  /// Keep the holder's id, give it this one's fields.
  case update
  /// Run after the holder.
  case append

  var cValue: UInt32 {
    switch self {
    case .none: UInt32(TASKHOST_CONFLICT_NONE)
    case .keep: UInt32(TASKHOST_CONFLICT_KEEP)
    case .replace: UInt32(TASKHOST_CONFLICT_REPLACE)
    case .update: UInt32(TASKHOST_CONFLICT_UPDATE)
    case .append: UInt32(TASKHOST_CONFLICT_APPEND)
    }
  }
}
