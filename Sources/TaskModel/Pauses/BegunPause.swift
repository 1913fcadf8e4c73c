/// A pause that has begun, or would begin, and what it holds at that moment.
public struct BegunPause: Sendable, Hashable {
  /// The pause; its number is 0 if it was only checked.
  public var pause: Pause
  /// Live requests without a run that it holds; of very many, those that were counted.
  public var waiting: Int
  /// Whether there may be more than ``waiting``.
  public var hasMore: Bool
  /// Its requests that run now, and go on.
  public var running: Int

  /// Creates a pause with its counts.
  public init(pause: Pause, waiting: Int = 0, hasMore: Bool = false, running: Int = 0) {
    self.pause = pause
    self.waiting = waiting
    self.hasMore = hasMore
    self.running = running
  }
}
