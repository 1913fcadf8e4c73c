/// Where a test may let something happen in the middle of a sweep.
enum SweepPoint: Sendable, Equatable {
  /// A file was chosen; it has not been looked at again.
  case chosen
  /// The file was checked and claimed; next come the last look and its removal.
  case claimed
}
