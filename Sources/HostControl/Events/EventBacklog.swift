import Synchronization
import TaskModel

/// Keeps a host's newest events for the readers of its stream, however slow they are. Memory is bounded: one ring of bytes for all readers,
/// and a list for each. A reader that falls behind loses the oldest events and learns how many.
///
/// The host produces events only while there are readers, and for a while afterwards, so that a reader whose connection broke can resume.
final class EventBacklog: Sendable {
  /// Bytes of events that one reader may lag behind.
  static let unsentBytes = 1 << 20
  /// Bytes of events kept for all readers together.
  static let heldBytes = 8 << 20
  /// Readers at once; the remaining connections stay free for short requests.
  static let maximumReaders = 256
  /// Bytes that a reader takes at once.
  static let portion = 65_536

  private struct Member {
    let number: Int
    let kind: EventReader.Kind
    var queue: UnsentEvents
    /// Whether something other than an event has changed since the reader was last told.
    var isStale = false
    /// nil until the reader begins.
    var wake: (@Sendable () -> Void)?
    /// Whether it was woken and may still have events.
    var isAwake = false

    /// What wakes the reader; nil if nothing needs to.
    mutating func waking() -> (@Sendable () -> Void)? {
      guard !isAwake, let wake else { return nil }
      isAwake = true
      return wake
    }
  }

  private struct State {
    var ring = EventRing(capacity: EventBacklog.heldBytes)
    var incarnation = UInt64.random(in: .min ... .max)
    var members: [Member] = []
    var nextNumber = 0
    /// Whether the host reports events.
    var isTold = false
    var isOver = false
    /// Ends the reports after ``linger``; nil while there are readers.
    var lingering: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let linger: Duration
  private let interest: @Sendable (HostObserver?) -> Void

  /// - Parameters:
  ///   - linger: How long to keep events after the last reader has left.
  ///   - interest: Called with the observer when the backlog wants events, with nil when it no longer does. It must not call the backlog.
  init(linger: Duration, interest: @escaping @Sendable (HostObserver?) -> Void) {
    self.linger = linger
    self.interest = interest
  }

  /// Returns at once; any thread.
  func receive(_ event: HostEvent) {
    let held = HeldEvent(event)
    let wakes = state.withLock { state -> [@Sendable () -> Void] in
      guard state.isTold else { return [] }
      let number = state.ring.append(held)
      var wakes: [@Sendable () -> Void] = []
      for index in state.members.indices where state.members[index].queue.append(number, held) {
        if let wake = state.members[index].waking() { wakes.append(wake) }
      }
      return wakes
    }
    for wake in wakes { wake() }
  }

  /// Something other than an event has changed: tells readers that follow changes. Returns at once; any thread.
  func tellPages() {
    let wakes = state.withLock { state -> [@Sendable () -> Void] in
      state.members.indices.compactMap { index in
        guard state.members[index].kind == .changes else { return nil }
        state.members[index].isStale = true
        return state.members[index].waking()
      }
    }
    for wake in wakes { wake() }
  }

  /// The host reports no more events: readers still get what they have not been sent, then their streams end.
  func finish() {
    let wakes = state.withLock { state in
      state.isOver = true
      return state.members.indices.compactMap { state.members[$0].waking() }
    }
    for wake in wakes { wake() }
  }

  /// Adds a reader of all later events, and of those after `last` that are still kept.
  ///
  /// - Parameters:
  ///   - selection: Which events to read.
  ///   - last: The last ``EventID`` that the reader has seen, as text; nil for a new reader.
  func read(_ selection: EventSelection, after last: String?, as kind: EventReader.Kind = .events) -> EventReader {
    let (number, oldest) = state.withLock { state -> (Int, (@Sendable () -> Void)?) in
      // The oldest reader gives way. If it still reads, it comes back with the last id it has seen.
      let oldest = state.members.count < Self.maximumReaders ? nil : state.members.removeFirst().wake
      state.lingering?.cancel()
      state.lingering = nil
      if !state.isTold {
        state.isTold = true
        interest(HostObserver(receive: receive, finish: finish))
      }
      var queue = UnsentEvents(of: selection, capacity: Self.unsentBytes)
      if let last {
        let id = EventID(last).flatMap { $0.incarnation == state.incarnation ? $0.sequence : nil }
        queue.resume(at: id.flatMap { $0 < .max ? $0 + 1 : nil }, in: state.ring)
      }
      state.nextNumber += 1
      state.members.append(Member(number: state.nextNumber, kind: kind, queue: queue))
      return (state.nextNumber, oldest)
    }
    oldest?()
    return EventReader(number: number, kind: kind, backlog: self)
  }

  /// Wakes reader `number` from now on, and at once, because events may be available already.
  func begin(_ number: Int, _ wake: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard let index = state.members.firstIndex(where: { $0.number == number }) else { return }
      state.members[index].wake = wake
      state.members[index].isAwake = true
    }
    wake()
  }

  /// Whether reader `number` gets no further events: the host has ended, or the reader gave way.
  func hasEnded(_ number: Int) -> Bool {
    state.withLock { state in state.isOver || !state.members.contains { $0.number == number } }
  }

  /// The next deliveries of reader `number`, and the number of their sequence. If there are none, the reader is woken for the next one.
  func take(_ number: Int) -> (deliveries: [UnsentEvents.Delivery], incarnation: UInt64) {
    state.withLock { state in
      guard let index = state.members.firstIndex(where: { $0.number == number }) else { return ([], state.incarnation) }
      let deliveries = state.members[index].queue.take(from: state.ring, limit: Self.portion)
      if deliveries.isEmpty { state.members[index].isAwake = false }
      return (deliveries, state.incarnation)
    }
  }

  /// Drops all that reader `number` has not been told, and returns whether there was anything. The reader is woken for the next event.
  func takeAll(_ number: Int) -> Bool {
    state.withLock { state in
      guard let index = state.members.firstIndex(where: { $0.number == number }) else { return false }
      let wasStale = state.members[index].isStale
      (state.members[index].isAwake, state.members[index].isStale) = (false, false)
      return state.members[index].queue.drop() || wasStale
    }
  }

  func leave(_ number: Int) {
    state.withLock { state in
      state.members.removeAll { $0.number == number }
      guard state.members.isEmpty, state.isTold, state.lingering == nil else { return }
      state.lingering = Task { [weak self, linger] in
        guard (try? await Task.sleep(for: linger)) != nil else { return }
        self?.rest()
      }
    }
  }

  /// No reader came back: drops the events; the next reader starts a new sequence.
  private func rest() {
    state.withLock { state in
      guard state.members.isEmpty, state.isTold, !Task.isCancelled else { return }
      interest(nil)
      state.isTold = false
      state.lingering = nil
      state.ring = EventRing(capacity: Self.heldBytes)
      state.incarnation = .random(in: .min ... .max)
    }
  }
}
