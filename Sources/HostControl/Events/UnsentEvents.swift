import DequeModule
import TaskModel

/// What one reader has not been sent yet: the numbers of its events, so many bytes of them. The oldest go first, and are counted.
///
/// A reader that came back reads on in the ring itself, at its own pace, until it has what is there: it loses only what the ring loses.
struct UnsentEvents {
  /// What a reader is told next.
  enum Delivery {
    /// Events that it does not get; nil: nobody knows how many. The next that it can get has the number `next`, or a later one.
    case missed(UInt64?, next: UInt64)
    /// An event.
    case event(UInt64, HeldEvent)
  }

  /// The only request whose events it wants; nil: it wants all.
  private let request: RequestID?
  private let capacity: Int
  private var waiting: Deque<(number: UInt64, bytes: Int)> = []
  private var bytes = 0
  /// The number of the ring's event that a resumed reader gets next. nil once it has caught up; from then on `waiting` is in use.
  private var place: UInt64?
  private var missed: UInt64 = 0
  private var isMissedUnknown = false

  init(of request: RequestID?, capacity: Int) {
    self.request = request
    self.capacity = capacity
  }

  private func wants(_ event: HeldEvent) -> Bool { request == nil || request == event.request }

  /// A reader comes back that knows all events before `number`, or nobody knows what it knows (nil): it gets those that are held since, and
  /// those to come.
  mutating func resume(at number: UInt64?, in ring: EventRing) {
    guard let number, number <= ring.next else {
      isMissedUnknown = true
      return
    }
    place = number
  }

  /// Adds an event if it is for this reader.
  ///
  /// - Returns: Whether it is.
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

  /// The next events, about `limit` bytes of them; empty if there are none.
  mutating func take(from ring: EventRing, limit: Int) -> [Delivery] {
    var deliveries: [Delivery] = []
    var taken = 0
    guard readOn(in: ring, limit: limit, &taken, &deliveries) else { return deliveries }
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

  /// Takes what a reader that came back finds in the ring.
  ///
  /// - Returns: Whether it has all of that.
  private mutating func readOn(in ring: EventRing, limit: Int, _ taken: inout Int, _ deliveries: inout [Delivery]) -> Bool {
    guard var number = place else { return true }
    if number < ring.first {
      // What is not held any more may have been of other requests.
      if request == nil { missed += ring.first - number } else { isMissedUnknown = true }
      number = ring.first
    }
    while taken < limit, let event = ring[number] {
      if wants(event) {
        tellMissed(next: number, &deliveries)
        deliveries.append(.event(number, event))
        taken += event.bytes
      }
      number += 1
    }
    place = number < ring.next ? number : nil
    return place == nil
  }

  private mutating func tellMissed(next: UInt64, _ deliveries: inout [Delivery]) {
    guard missed > 0 || isMissedUnknown else { return }
    deliveries.append(.missed(isMissedUnknown ? nil : missed, next: next))
    (missed, isMissedUnknown) = (0, false)
  }
}
