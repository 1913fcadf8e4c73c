internal import TaskHostSDK

/// What is known of some entries of a batch, and how long that is good.
struct AnswerSheet {
  private let uses: [FileUse]
  /// The entries that it is about.
  let entries: Range<Int>
  private let goodUntil: ContinuousClock.Instant
  /// Whether the sweep went on meanwhile, and may itself have had directories open that it was about to empty.
  let isClouded: Bool

  /// An answer is good for that long after it was asked for.
  private static let freshness: Duration = .seconds(1)
  /// And at least for that long after it came: where a look takes longer than it is good, nothing would ever be dealt with.
  private static let leastUse: Duration = .milliseconds(500)

  /// About nothing.
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

  /// What is known of an entry, unknown included; nil where it is to be asked about, for the first time or again.
  func use(of index: Int, at now: ContinuousClock.Instant) -> FileUse? {
    guard entries.contains(index), now <= goodUntil else { return nil }
    let position = index - entries.lowerBound
    return position < uses.count ? uses[position] : .unknown
  }
}
