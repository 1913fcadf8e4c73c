/// Draws increasing sequences for ``RecordID``: the clock's millisecond and a counter. The counter carries over into the next millisecond
/// when it is full or when the clock was set back (RFC 9562 §6.2, method 1).
public struct RecordIDGenerator: Sendable {
  private var last: Int64

  /// Creates a generator that continues after `last`, the highest sequence in use; 0 if none is.
  public init(after last: Int64) { self.last = last }

  /// The next sequence at `now`.
  public mutating func next(at now: WallTime) -> Int64 {
    let fromClock = max(0, min(now.unixMilliseconds, 0xFFFF_FFFF_FFFF)) << 12
    last = max(last.adding(saturating: 1), fromClock)
    return last
  }
}
