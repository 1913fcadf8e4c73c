import Synchronization
import TaskModel

/// Holds a host's newest events for the readers of its stream, however slow they are. Memory is bounded: a number of bytes for all readers
/// together, and a list for each. A reader that falls behind loses the oldest events and is told how many.
///
/// The host makes events only while there are readers, and for a while afterwards, so that a reader whose connection broke can resume.
final class EventBacklog: Sendable {
  /// The most unsent bytes of one reader.
  static let unsentBytes = 1 << 20
  /// Bytes of events that are held for all readers together.
  static let heldBytes = 8 << 20
  /// The most concurrent readers; other connections stay free for short requests.
  static let maximumReaders = 256
  /// Bytes that a reader takes at once.
  static let portion = 65_536

  private struct Member {
    let number: Int
    var queue: UnsentEvents
    let wakes: AsyncStream<Void>.Continuation
  }

  private struct State {
    var ring = EventRing(capacity: EventBacklog.heldBytes)
    var incarnation = UInt64.random(in: .min ... .max)
    var members: [Member] = []
    var nextNumber = 0
    /// Whether the host reports events.
    var isTold = false
    var isOver = false
    /// Stops the events when the linger time is over; nil while there are readers.
    var lingering: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let linger: Duration
  private let interest: @Sendable (HostObserver?) -> Void

  /// Holds nothing yet.
  ///
  /// - Parameters:
  ///   - linger: How long events are held on after the last reader has gone.
  ///   - interest: Called with who is to be told when the backlog wants events, and with nil when it does not any more. It must not call
  ///     the backlog.
  init(linger: Duration, interest: @escaping @Sendable (HostObserver?) -> Void) {
    self.linger = linger
    self.interest = interest
  }

  /// Adds an event. Returns immediately; any thread.
  func receive(_ event: HostEvent) {
    let held = HeldEvent(event)
    state.withLock { state in
      guard state.isTold else { return }
      let number = state.ring.append(held)
      for index in state.members.indices where state.members[index].queue.append(number, held) { state.members[index].wakes.yield() }
    }
  }

  /// The host tells nothing any more: each reader gets what it has not been sent, and its end.
  func finish() {
    state.withLock { state in
      state.isOver = true
      for member in state.members { member.wakes.finish() }
    }
  }

  /// A new reader of what happens from now on, or of what happened since `last`, as far as it is held.
  ///
  /// - Parameters:
  ///   - request: The request whose events are read; nil: all events.
  ///   - last: The text of the last ``EventID`` that the reader has seen; nil: it is new.
  func read(_ request: RequestID?, after last: String?) -> EventReader {
    let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state -> Int in
      // As with connections: the oldest gives way. One that still reads comes back with the id that it has seen.
      if state.members.count >= Self.maximumReaders { state.members.removeFirst().wakes.finish() }
      state.lingering?.cancel()
      state.lingering = nil
      if !state.isTold {
        state.isTold = true
        interest(HostObserver(receive: receive, finish: finish))
      }
      var queue = UnsentEvents(of: request, capacity: Self.unsentBytes)
      if let last {
        let id = EventID(last).flatMap { $0.incarnation == state.incarnation ? $0.sequence : nil }
        queue.resume(at: id.flatMap { $0 < .max ? $0 + 1 : nil }, in: state.ring)
      }
      state.nextNumber += 1
      state.members.append(Member(number: state.nextNumber, queue: queue, wakes: continuation))
      // Events may be waiting already.
      continuation.yield()
      if state.isOver { continuation.finish() }
      return state.nextNumber
    }
    return EventReader(wakes: wakes, number: number, backlog: self)
  }

  /// What the reader `number` is sent next, and the number of the sequence that it is in.
  func take(_ number: Int) -> (deliveries: [UnsentEvents.Delivery], incarnation: UInt64) {
    state.withLock { state in
      guard let index = state.members.firstIndex(where: { $0.number == number }) else { return ([], state.incarnation) }
      return (state.members[index].queue.take(from: state.ring, limit: Self.portion), state.incarnation)
    }
  }

  /// Removes the reader `number`.
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

  /// Nobody came back: what is held is let go, and the next reader begins another sequence.
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
