/// Estimates how many files a sweep handles in half a second. It asks about that many at once, so that the answer is still valid for the
/// last one.
struct Pace {
  private(set) var files = CandidateBatch.largest

  private static let span: Duration = .milliseconds(500)
  /// The minimum, because a question costs the host the same for few files as for many.
  private static let fewest = 256
  /// Fewer files give no useful measurement.
  private static let sample = 64

  /// Only `count` files were handled before the answer went stale.
  mutating func fellBehind(after count: Int) { files = max(Self.fewest, min(files, count)) }

  /// All files of the question were handled in time.
  mutating func keptUp() { files = min(CandidateBatch.largest, files * 2) }

  mutating func note(_ count: Int, _ time: Duration) {
    guard count >= Self.sample else { return }
    let (span, taken) = (Self.span / Duration.microseconds(1), max(1, time / Duration.microseconds(1)))
    files = max(Self.fewest, min(CandidateBatch.largest, Int(min(Double(CandidateBatch.largest), Double(count) * span / taken))))
  }
}
