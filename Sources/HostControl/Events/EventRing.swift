import DequeModule

/// The newest events, shared by all readers: up to a number of bytes, but always at least one event.
struct EventRing {
  private var events: Deque<HeldEvent> = []
  private var bytes = 0
  private let capacity: Int
  /// The number of the next event; the first is 1.
  private(set) var next: UInt64 = 1

  init(capacity: Int) { self.capacity = capacity }

  /// The number of the oldest event kept; ``next`` if none is.
  var first: UInt64 { next - UInt64(events.count) }

  /// Adds an event, and drops the oldest ones if there is no room.
  ///
  /// - Returns: The event's number.
  mutating func append(_ event: HeldEvent) -> UInt64 {
    while bytes + event.bytes > capacity, let oldest = events.popFirst() { bytes -= oldest.bytes }
    events.append(event)
    bytes += event.bytes
    defer { next += 1 }
    return next
  }

  /// nil if the event is no longer kept or has not happened yet.
  subscript(number: UInt64) -> HeldEvent? {
    guard number >= first, number < next else { return nil }
    return events[Int(number - first)]
  }
}
