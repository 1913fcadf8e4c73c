public import TaskModel

/// Makes one of what comes in quick succession: it fires when nothing has come for a while, and does not wait forever for that.
public struct Debounce: Sendable, Hashable {
  /// How often ``quiet`` somebody may wait in all, however much comes.
  public static let mostWaits = 5

  /// For how long nothing must come; zero: it fires at once.
  public let quiet: Duration
  /// When the first came of those that have not fired; nil if none waits.
  public private(set) var first: WallTime?
  /// When the last of them came.
  public private(set) var last: WallTime?
  /// How many there are.
  public private(set) var count = 0

  /// Nothing has come yet; a negative duration is zero.
  public init(quiet: Duration) { self.quiet = max(.zero, quiet) }

  /// As it was when it was stored.
  public init(quiet: Duration, first: WallTime, last: WallTime, count: Int) {
    self.init(quiet: quiet)
    guard count > 0 else { return }
    (self.first, self.last, self.count) = (first, max(first, last), count)
  }

  /// Something came. From a clock that was set back, waiting begins anew.
  public mutating func arrive(at now: WallTime) {
    if let last, now < last { first = now }
    first = first ?? now
    last = now
    count += 1
  }

  /// When it fires if nothing else comes; nil if nothing waits.
  public var firesAt: WallTime? {
    guard let first, let last else { return nil }
    return min(last + quiet, first + quiet * Self.mostWaits)
  }

  /// Fires, if it is time.
  ///
  /// - Returns: How many were made one; nil if it is not time, or nothing waits.
  public mutating func fire(at now: WallTime) -> Int? {
    guard let firesAt, firesAt <= now else { return nil }
    defer { self = Debounce(quiet: quiet) }
    return count
  }

  /// The same after the wall clock was set by `amount` (forward: positive).
  public func shifted(by amount: Duration) -> Debounce {
    var debounce = self
    debounce.first = first.map { $0 + amount }
    debounce.last = last.map { $0 + amount }
    return debounce
  }
}
