/// What became of the datagrams of event sockets that never reached the scheduler.
public struct EventSocketCounts: Sendable, Hashable {
  /// Dropped because more came than could be recorded; those the kernel had no room for are among them where it counts them (UDP).
  public var overflowed: UInt64 = 0
  /// Dropped because they were longer than ``EventSocket/maximumBytes``.
  public var tooLong: UInt64 = 0
  /// Handed over and not recorded: the store failed, or the host had stopped.
  public var unrecorded: UInt64 = 0

  /// None yet.
  public init() {}

  /// All that were dropped.
  public var dropped: UInt64 { overflowed + tooLong + unrecorded }

  /// The sum of both.
  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.overflowed += right.overflowed
    sum.tooLong += right.tooLong
    sum.unrecorded += right.unrecorded
    return sum
  }

  /// For people, as ends of a sentence that begins with the socket; empty: nothing was dropped.
  var sentences: [String] {
    [
      (overflowed, "dropped: more came than can be recorded"),
      (tooLong, "dropped: longer than \(EventSocket.maximumBytes) bytes; send a file's path instead"),
      (unrecorded, "dropped: what the store or the host could not take"),
    ].compactMap { count, what in count > 0 ? "\(count) datagram\(count == 1 ? "" : "s") \(what)" : nil }
  }
}
