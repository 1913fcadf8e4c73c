public import TaskModel

/// What the host lacks to run a plugin. It does not count against the plugin.
public struct HostShortage: Sendable, Hashable {
  /// What was observed, a sentence.
  public private(set) var sentence: String
  /// The kind of shortage.
  public private(set) var cause: ShortageCause
  /// When it began.
  public let since: WallTime
  /// When the host tries again.
  public private(set) var until: WallTime
  /// The number of failures.
  public private(set) var failures = 1

  private static let firstWait = Duration.seconds(1)
  private static let longestWait = Duration.seconds(60)

  init(_ sentence: String, _ cause: ShortageCause, now: WallTime) {
    self.sentence = sentence
    self.cause = cause
    since = now
    until = now + Self.firstWait
  }

  /// Counts another failure. Failures at the same time count once.
  mutating func failed(_ sentence: String, _ cause: ShortageCause, now: WallTime) {
    guard now >= until else { return }
    self.sentence = sentence
    self.cause = cause
    failures += 1
    until = now + min(Self.firstWait * (1 << min(failures - 1, 6)), Self.longestWait)
  }

  /// Moves the times after the wall clock was set by `distance`.
  mutating func shift(by distance: Duration) { until = until + distance }
}
