/// A change since the last successful drain.
public enum CoalescedChange: Sendable, Equatable {
  /// The key of a trigger.
  case key(String)
  /// There were too many keys to keep: everything may have changed.
  case everything
}
