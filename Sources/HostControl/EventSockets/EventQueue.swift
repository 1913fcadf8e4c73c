import NIOCore

/// Datagrams that wait for the scheduler. When the bounded queue is full, the oldest go, so that the latest state stays.
struct EventQueue {
  static let maximumCount = 1024
  static let maximumBytes = 1 << 20

  private var waiting = CircularBuffer<[UInt8]>()
  private var bytes = 0

  var isEmpty: Bool { waiting.isEmpty }

  /// Adds a datagram of at most ``maximumBytes``; returns how many older ones were dropped.
  mutating func add(_ datagram: [UInt8]) -> Int {
    var dropped = 0
    while waiting.count >= Self.maximumCount || bytes + datagram.count > Self.maximumBytes, next() != nil { dropped += 1 }
    waiting.append(datagram)
    bytes += datagram.count
    return dropped
  }

  mutating func next() -> [UInt8]? {
    guard let datagram = waiting.popFirst() else { return nil }
    bytes -= datagram.count
    return datagram
  }
}
