/// A point at which a test can interfere with a sweep.
enum SweepPoint: Sendable, Equatable {
  /// A file was chosen and not yet checked again.
  case chosen
  /// The file was checked and claimed; the last check and the removal follow.
  case claimed
}
