import DequeModule
import TaskModel

/// The events that one reader has not been sent.
///
/// A reader of all events has only a place in the ring, and loses what the ring drops. A reader of some has the numbers of those it wants, up
/// to a number of bytes of events: the oldest are dropped and counted. When it resumes, it first reads from the ring until it has caught up.
struct UnsentEvents {
  enum Delivery {
    /// Events lost to this reader; nil if the number is unknown. The next event it can get is `next` or a later one.
    case missed(UInt64?, next: UInt64)
    case event(UInt64, HeldEvent)
  }

  /// The events that the reader wants.
  private let selection: EventSelection
  private let capacity: Int
  private var waiting: Deque<(number: UInt64, bytes: Int)> = []
  private var bytes = 0
  /// The number of the next event in the ring; nil if `waiting` is in use: a reader of some events has caught up.
  private(set) var place: UInt64?
  private var missed: UInt64 = 0
  private var isMissedUnknown = false

  /// A reader of the events that the ring gets from now on.
  init(of selection: EventSelection, capacity: Int, in ring: EventRing) {
    self.selection = selection
    self.capacity = capacity
    if selection.isAll { place = ring.next }
  }

  /// Whether it owes the reader nothing but the events from ``place`` on.
  var isPlain: Bool { selection.isAll && missed == 0 && !isMissedUnknown }

  /// Goes on at `number`: the reader was given the events before it.
  mutating func advance(to number: UInt64) { place = number }

  private func wants(_ event: HeldEvent) -> Bool { selection.contains(event) }

  /// Resumes at `number`, the first event the reader has not seen; nil or a number from the future: nobody knows what it has seen.
  mutating func resume(at number: UInt64?, in ring: EventRing) {
    guard let number, number <= ring.next else {
      isMissedUnknown = true
      return
    }
    place = number
  }

  /// Adds an event; returns whether the reader wants it.
  mutating func append(_ number: UInt64, _ event: HeldEvent) -> Bool {
    guard wants(event) else { return false }
    guard place == nil else { return true }
    while bytes + event.bytes > capacity, let oldest = waiting.popFirst() {
      bytes -= oldest.bytes
      missed += 1
    }
    waiting.append((number, event.bytes))
    bytes += event.bytes
    return true
  }

  /// Drops all events that wait, and returns whether there were any. For a reader that does not resume.
  mutating func drop(in ring: EventRing) -> Bool {
    let hadEvents = !waiting.isEmpty || missed > 0 || place.map { $0 < ring.next } ?? false
    waiting.removeAll(keepingCapacity: waiting.count < 1000)
    if place != nil { place = ring.next }
    (bytes, missed) = (0, 0)
    return hadEvents
  }

  /// The next events, about `limit` bytes of them; empty if there are none. A reader of all events gets those before `end`.
  mutating func take(from ring: EventRing, limit: Int, before end: UInt64 = .max) -> [Delivery] {
    var deliveries: [Delivery] = []
    var taken = 0
    guard readOn(in: ring, limit: limit, before: end, &taken, &deliveries) else { return deliveries }
    while taken < limit, let (number, bytes) = waiting.popFirst() {
      self.bytes -= bytes
      guard let event = ring[number] else {
        missed += 1
        continue
      }
      tellMissed(next: number, &deliveries)
      deliveries.append(.event(number, event))
      taken += bytes
    }
    if waiting.isEmpty { tellMissed(next: ring.next, &deliveries) }
    return deliveries
  }

  /// Reads from the ring for a reader that has a place there; returns whether it has caught up.
  private mutating func readOn(
    in ring: EventRing, limit: Int, before end: UInt64, _ taken: inout Int, _ deliveries: inout [Delivery]
  ) -> Bool {
    guard var number = place else { return true }
    if number < ring.first {
      // The dropped events may have been others.
      if selection.isAll { missed += ring.first - number } else { isMissedUnknown = true }
      number = ring.first
    }
    while taken < limit, number < end, let event = ring[number] {
      if wants(event) {
        tellMissed(next: number, &deliveries)
        deliveries.append(.event(number, event))
        taken += event.bytes
      }
      number += 1
    }
    let isBehind = number < ring.next
    place = isBehind || selection.isAll ? number : nil
    return !isBehind
  }

  private mutating func tellMissed(next: UInt64, _ deliveries: inout [Delivery]) {
    guard missed > 0 || isMissedUnknown else { return }
    deliveries.append(.missed(isMissedUnknown ? nil : missed, next: next))
    (missed, isMissedUnknown) = (0, false)
  }
}
