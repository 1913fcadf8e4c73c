/// About how many files a sweep handles in half a second. It asks about that many at once, so that the answer is still fresh for the last one.
struct Pace {
  private(set) var files = CandidateBatch.largest

  private static let span: Duration = .milliseconds(500)
  /// A look at open files costs the host the same for few as for many.
  private static let fewest = 256
  /// What fewer files take tells nothing.
  private static let sample = 64

  /// Only `count` files were handled before the answer went stale.
  mutating func fellBehind(after count: Int) { files = max(Self.fewest, min(files, count)) }

  /// All that were asked about were dealt with in time.
  mutating func keptUp() { files = min(CandidateBatch.largest, files * 2) }

  /// Records that `count` files took `time`.
  mutating func note(_ count: Int, _ time: Duration) {
    guard count >= Self.sample else { return }
    let (span, taken) = (Self.span / Duration.microseconds(1), max(1, time / Duration.microseconds(1)))
    files = max(Self.fewest, min(CandidateBatch.largest, Int(min(Double(CandidateBatch.largest), Double(count) * span / taken))))
  }
}
