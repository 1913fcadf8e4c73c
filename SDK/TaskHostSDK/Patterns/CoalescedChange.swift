/// One thing that has changed since the last drain that succeeded.
public enum CoalescedChange: Sendable, Equatable {
  /// What a trigger named.
  case key(String)
  /// There were more keys than can be kept, so none is: everything may have changed.
  case everything
}
