/// Datagrams of event sockets that never reached the scheduler, by reason.
public struct EventSocketCounts: Sendable, Hashable {
  /// More arrived than could be recorded; includes datagrams that the kernel dropped where it counts them (UDP).
  public var overflowed: UInt64 = 0
  /// Longer than ``EventSocket/maximumBytes``.
  public var tooLong: UInt64 = 0
  /// Passed to the scheduler but not recorded: the store failed, or the host had stopped.
  public var unrecorded: UInt64 = 0

  /// All zero.
  public init() {}

  /// The sum of all reasons.
  public var dropped: UInt64 { overflowed + tooLong + unrecorded }

  /// Adds the counts of both.
  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.overflowed += right.overflowed
    sum.tooLong += right.tooLong
    sum.unrecorded += right.unrecorded
    return sum
  }

  /// For people: ends of a sentence that begins with the socket. Empty if nothing was dropped.
  var sentences: [String] {
    [
      (overflowed, "dropped: more came than can be recorded"),
      (tooLong, "dropped: longer than \(EventSocket.maximumBytes) bytes; send a file's path instead"),
      (unrecorded, "dropped: what the store or the host could not take"),
    ].compactMap { count, what in count > 0 ? "\(count) datagram\(count == 1 ? "" : "s") \(what)" : nil }
  }
}
