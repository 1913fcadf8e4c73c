import CTaskHost

/// What a submission does when a live request of the identifier holds its unique key.
public enum ConflictPolicy: Sendable, Equatable {
  /// Create a request with every submission.
  case none
  /// Keep the holder, even while it runs, and drop this one.
  case keep
  /// Cancel the holder. If it has a run, this request starts only after that run has ended.
  case replace
  /// Keep the holder's id and replace its fields.
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
