internal import TaskHostSDK

/// Answers about some entries of a batch, and how long they are valid.
struct AnswerSheet {
  private let uses: [FileUse]
  /// The entries that the answers cover.
  let entries: Range<Int>
  private let goodUntil: ContinuousClock.Instant
  /// Whether the sweep continued meanwhile, and so may itself have held directories open that it was about to empty.
  let isClouded: Bool

  /// How long an answer is valid, counted from its question.
  private static let freshness: Duration = .seconds(1)
  /// The minimum validity, counted from the arrival of an answer. Without it, an answer slower than ``freshness`` would be useless.
  private static let leastUse: Duration = .milliseconds(500)

  init() {
    uses = []
    entries = 0..<0
    goodUntil = .now
    isClouded = false
  }

  init(
    _ uses: [FileUse], about entries: Range<Int>, askedAt: ContinuousClock.Instant, cameAt: ContinuousClock.Instant, isClouded: Bool = false
  ) {
    self.uses = uses
    self.entries = entries
    self.isClouded = isClouded
    goodUntil = max(askedAt + Self.freshness, cameAt + Self.leastUse)
  }

  /// The answer about an entry, possibly unknown; nil if the sweep must ask about the entry, for the first time or again.
  func use(of index: Int, at now: ContinuousClock.Instant) -> FileUse? {
    guard entries.contains(index), now <= goodUntil else { return nil }
    let position = index - entries.lowerBound
    return position < uses.count ? uses[position] : .unknown
  }
}

/// Estimates how many files a sweep handles in half a second. A question covers that many, so that its answer is still valid for the last.
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
