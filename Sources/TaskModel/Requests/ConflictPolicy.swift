/// What a submission does when a live request of its identifier holds its unique key, the holder.
public enum ConflictPolicy: String, Sendable, CaseIterable {
  /// Create a request with every submission.
  case none
  /// Keep the holder, even while it runs, and drop this submission.
  case keep
  /// Cancel the holder. If it has a run, this request starts only after that run has ended.
  case replace
  /// Keep the holder's id and replace its fields.
  case update
  /// Run this request after the holder.
  case append
}

/// The effect of a submission.
public enum Disposition: String, Sendable, CaseIterable {
  /// A new request was created.
  case created
  /// The holder of the key was kept.
  case kept
  /// A new request took the holder's place.
  case replaced
  /// The holder was changed.
  case updated
  /// A new request waits for the holder.
  case appended
}
