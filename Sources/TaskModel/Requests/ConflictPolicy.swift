/// What a submission does when a live request of its identifier holds its unique key.
public enum ConflictPolicy: String, Sendable, CaseIterable {
  /// Every submission creates a request.
  case none
  /// The holder stays, even while it runs, and this submission is dropped.
  case keep
  /// The holder is cancelled; this one starts only after a run of the holder has ended.
  case replace
  /// The holder keeps its id and takes this one's fields.
  case update
  /// Runs after the holder.
  case append
}

/// What a submission did.
public enum Disposition: String, Sendable, CaseIterable {
  /// A new request.
  case created
  /// The holder of the key stays.
  case kept
  /// A new request took the holder's place.
  case replaced
  /// The holder was changed.
  case updated
  /// A new request waits for the holder.
  case appended
}
