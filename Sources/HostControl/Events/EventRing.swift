import DequeModule

/// The newest events, held once for all readers: so many bytes, but always at least one event.
struct EventRing {
  private var events: Deque<HeldEvent> = []
  private var bytes = 0
  private let capacity: Int
  /// The number of the event to come; the first is 1.
  private(set) var next: UInt64 = 1

  init(capacity: Int) { self.capacity = capacity }

  /// The number of the oldest event that is held; ``next`` if none is.
  var first: UInt64 { next - UInt64(events.count) }

  /// Holds one more event, and lets the oldest go for it if need be.
  ///
  /// - Returns: Its number.
  mutating func append(_ event: HeldEvent) -> UInt64 {
    while bytes + event.bytes > capacity, let oldest = events.popFirst() { bytes -= oldest.bytes }
    events.append(event)
    bytes += event.bytes
    defer { next += 1 }
    return next
  }

  /// The event with that number; nil: it is not held any more, or has not come yet.
  subscript(number: UInt64) -> HeldEvent? {
    guard number >= first, number < next else { return nil }
    return events[Int(number - first)]
  }
}
