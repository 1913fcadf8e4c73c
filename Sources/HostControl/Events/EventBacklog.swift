import NIOCore
import Synchronization
import TaskModel

/// Keeps a host's newest events for the readers of its stream, however slow they are. Memory is bounded: one ring of bytes for all readers,
/// and a list for each that wants only some events. A reader that falls behind loses the oldest events and learns how many.
///
/// The host produces events only while there are readers, and for a while afterwards, so that a reader whose connection broke can resume.
final class EventBacklog: Sendable {
  /// Bytes of events that a reader of some events may lag behind.
  static let unsentBytes = 1 << 20
  /// Bytes of events kept for all readers together.
  static let heldBytes = 8 << 20
  /// Readers at once; the remaining connections stay free for short requests.
  static let maximumReaders = ControlServer.maximumConnections / 2
  /// With at most this many readers, each gets events after the shortest interval. A reader costs a system call each time, so with more of
  /// them, each collects for longer.
  private static let promptReaders = 100
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
    /// What readers of all events were given last, for others at the same place.
    var portions = SharedPortions()
    var nextNumber = 0
    /// Whether the host reports events.
    var isTold = false
    var isOver = false
    /// Ends the reports after ``linger``; nil while there are readers.
    var lingering: Task<Void, Never>?

    func index(of number: Int) -> Int? { members.index(of: number, by: \.number) }
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
      var queue = UnsentEvents(of: selection, capacity: Self.unsentBytes, in: state.ring)
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
      guard let index = state.index(of: number) else { return }
      state.members[index].wake = wake
      state.members[index].isAwake = true
    }
    wake()
  }

  /// Whether reader `number` gets no further events: the host has ended, or the reader gave way.
  func hasEnded(_ number: Int) -> Bool {
    state.withLock { state in state.isOver || state.index(of: number) == nil }
  }

  /// How many times the shortest interval a reader collects events for.
  var patience: Int { state.withLock { max(1, ($0.members.count + Self.promptReaders - 1) / Self.promptReaders) } }

  /// What a reader is given.
  enum Taken {
    case nothing
    /// As text already, because another reader was at the same place.
    case text(ByteBuffer)
    /// - `range`: What the deliveries are if another reader can use them: all events from its beginning to its end.
    case deliveries([UnsentEvents.Delivery], incarnation: UInt64, range: Range<UInt64>?)
  }

  /// The next portion of reader `number`. If there is none, the reader is woken for the next event.
  func take(_ number: Int) -> Taken {
    state.withLock { state in
      guard let index = state.index(of: number) else { return .nothing }
      let place = state.members[index].queue.isPlain ? state.members[index].queue.place : nil
      if let place, let portion = state.portions.beginning(at: place), place >= state.ring.first {
        state.members[index].queue.advance(to: portion.end)
        return .text(portion.text)
      }
      let last = place.flatMap { state.portions.end(around: $0) } ?? .max
      let deliveries = state.members[index].queue.take(from: state.ring, limit: Self.portion, before: last)
      if deliveries.isEmpty {
        state.members[index].isAwake = false
        return .nothing
      }
      let end = state.members[index].queue.place
      let range = place.flatMap { place in end.map { place..<max(place, $0) } }.flatMap { $0.count == deliveries.count ? $0 : nil }
      return .deliveries(deliveries, incarnation: state.incarnation, range: range)
    }
  }

  /// Keeps the text of all events of a range for readers that are at its beginning.
  func share(_ text: ByteBuffer, of range: Range<UInt64>, incarnation: UInt64) {
    state.withLock { state in
      guard state.incarnation == incarnation else { return }
      state.portions.add(text, of: range)
    }
  }

  /// Drops all that reader `number` has not been told, and returns whether there was anything. The reader is woken for the next event.
  func takeAll(_ number: Int) -> Bool {
    state.withLock { state in
      guard let index = state.index(of: number) else { return false }
      let wasStale = state.members[index].isStale
      (state.members[index].isAwake, state.members[index].isStale) = (false, false)
      return state.members[index].queue.drop(in: state.ring) || wasStale
    }
  }

  func leave(_ number: Int) {
    state.withLock { state in
      if let index = state.index(of: number) { state.members.remove(at: index) }
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
      state.portions = SharedPortions()
      state.incarnation = .random(in: .min ... .max)
    }
  }
}
