/// What may stay of the files that a rule means. At least one of the first three is set.
struct Limits: Sendable, Equatable {
  /// Files last modified longer ago than this go.
  var maxAge: Duration?
  /// While the files together hold more bytes than this (apparent size, hard links once), the oldest goes.
  var maxTotalBytes: UInt64?
  /// While there are more names than this, the oldest goes.
  var maxCount: Int?
  /// This many of the newest are never removed, whatever the limits say.
  var keepNewest = 0
  /// Files modified more recently than this are never removed, whatever the limits say.
  var minAge: Duration = .zero
}
