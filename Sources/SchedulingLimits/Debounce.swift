public import TaskModel

/// Merges events in quick succession: it fires when none has arrived for a while, or after a maximum wait.
public struct Debounce: Sendable, Hashable {
  /// The maximum wait, as a multiple of ``quiet``.
  public static let mostWaits = 5

  /// How long it waits for another event before it fires; zero means it fires immediately.
  public let quiet: Duration
  /// When the first waiting event arrived; nil if none waits.
  public private(set) var first: WallTime?
  /// When the last waiting event arrived.
  public private(set) var last: WallTime?
  /// The number of waiting events.
  public private(set) var count = 0

  /// Creates a debounce without events; a negative duration counts as zero.
  public init(quiet: Duration) { self.quiet = max(.zero, quiet) }

  /// Restores a stored state.
  public init(quiet: Duration, first: WallTime, last: WallTime, count: Int) {
    self.init(quiet: quiet)
    guard count > 0 else { return }
    (self.first, self.last, self.count) = (first, max(first, last), count)
  }

  /// Adds an event. If the clock was set back, the wait starts again.
  public mutating func arrive(at now: WallTime) {
    if let last, now < last { first = now }
    first = first ?? now
    last = now
    count += 1
  }

  /// When it fires if no other event arrives; nil if none waits.
  public var firesAt: WallTime? {
    guard let first, let last else { return nil }
    return min(last + quiet, first + quiet * Self.mostWaits)
  }

  /// Fires if it is time.
  ///
  /// - Returns: The number of merged events; nil if it is not time or none waits.
  public mutating func fire(at now: WallTime) -> Int? {
    guard let firesAt, firesAt <= now else { return nil }
    defer { self = Debounce(quiet: quiet) }
    return count
  }

  /// The state after the wall clock was set by `amount` (positive: forward).
  public func shifted(by amount: Duration) -> Debounce {
    var debounce = self
    debounce.first = first.map { $0 + amount }
    debounce.last = last.map { $0 + amount }
    return debounce
  }
}
