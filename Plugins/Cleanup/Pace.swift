/// How many files a sweep deals with in half a second, about: so many are asked about at once, so that an answer is still good for the last.
struct Pace {
  private(set) var files = CandidateBatch.largest

  private static let span: Duration = .milliseconds(500)
  /// A look at open files costs the host the same for few as for many.
  private static let fewest = 256
  /// What fewer files take tells nothing.
  private static let sample = 64

  /// An answer had grown old when only so many were dealt with.
  mutating func fellBehind(after count: Int) { files = max(Self.fewest, min(files, count)) }

  /// All that were asked about were dealt with in time.
  mutating func keptUp() { files = min(CandidateBatch.largest, files * 2) }

  /// Notes how long so many files took.
  mutating func note(_ count: Int, _ time: Duration) {
    guard count >= Self.sample else { return }
    let (span, taken) = (Self.span / Duration.microseconds(1), max(1, time / Duration.microseconds(1)))
    files = max(Self.fewest, min(CandidateBatch.largest, Int(min(Double(CandidateBatch.largest), Double(count) * span / taken))))
  }
}
