public import TaskModel

/// What the host lacks to run a plugin. It is not held against the plugin.
public struct HostShortage: Sendable, Hashable {
  /// What was seen, a sentence.
  public private(set) var sentence: String
  /// Of what sort it is.
  public private(set) var cause: ShortageCause
  /// Since when.
  public let since: WallTime
  /// When it is tried again.
  public private(set) var until: WallTime
  /// How often it failed.
  public private(set) var failures = 1

  private static let firstWait = Duration.seconds(1)
  private static let longestWait = Duration.seconds(60)

  init(_ sentence: String, _ cause: ShortageCause, now: WallTime) {
    self.sentence = sentence
    self.cause = cause
    since = now
    until = now + Self.firstWait
  }

  /// It has failed again. What fails together counts once.
  mutating func failed(_ sentence: String, _ cause: ShortageCause, now: WallTime) {
    guard now >= until else { return }
    self.sentence = sentence
    self.cause = cause
    failures += 1
    until = now + min(Self.firstWait * (1 << min(failures - 1, 6)), Self.longestWait)
  }

  /// The calendar was set by that much.
  mutating func shift(by distance: Duration) { until = until + distance }
}
