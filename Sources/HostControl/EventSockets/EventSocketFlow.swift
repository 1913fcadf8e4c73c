import Synchronization

/// Passes the events of one socket to the scheduler in order, a few at a time.
///
/// Datagrams wait in an ``EventQueue`` until the scheduler takes them. A flood costs its own oldest datagrams, but no memory, and other
/// sockets keep their turns. Any thread may call.
final class EventSocketFlow: Sendable {
  private struct State {
    var queue = EventQueue()
    var handedOver = 0
    /// Only one thread passes events at a time, which keeps their order.
    var isHandingOver = false
    var sink: EventSockets.Sink?
    var waiting: [CheckedContinuation<Void, Never>] = []

    var isAtRest: Bool { handedOver == 0 && queue.isEmpty }

    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
      defer { waiting = [] }
      return waiting
    }
  }

  let tally: EventSocketTally
  private let event: String
  private let state = Mutex(State())

  /// Events of a socket that are with the scheduler at once; they share a commit.
  private static let handedOverAtOnce = 32

  init(event: String, tally: EventSocketTally) {
    self.event = event
    self.tally = tally
  }

  /// Sets where events go. Call it before the first ``take(_:)``.
  func start(_ sink: @escaping EventSockets.Sink) { state.withLock { $0.sink = sink } }

  /// Takes a datagram of at most ``EventSocket/maximumBytes``.
  func take(_ datagram: [UInt8]) {
    let dropped = state.withLock { $0.queue.add(datagram) }
    if dropped > 0 { tally.add(dropped, to: \.overflowed) }
    handOver()
  }

  private func handOver() {
    let begins = state.withLock { state in
      defer { state.isHandingOver = true }
      return !state.isHandingOver
    }
    guard begins else { return }
    while let (sink, datagram) = next() {
      sink(event, datagram.isEmpty ? nil : datagram) { [self] isRecorded in recorded(isRecorded) }
    }
  }

  /// The next event to pass on; nil if none may go now: the next datagram or recorded event continues.
  private func next() -> (EventSockets.Sink, [UInt8])? {
    state.withLock { state in
      if state.handedOver < Self.handedOverAtOnce, let sink = state.sink, let datagram = state.queue.next() {
        state.handedOver += 1
        return (sink, datagram)
      }
      state.isHandingOver = false
      return nil
    }
  }

  private func recorded(_ isRecorded: Bool) {
    if !isRecorded { tally.add(to: \.unrecorded) }
    state.withLock { $0.handedOver -= 1 }
    handOver()
    for waiting in state.withLock({ state in state.isAtRest ? state.takeWaiting() : [] }) { waiting.resume() }
  }

  /// Waits until all datagrams are recorded or ``giveUp()`` is called.
  func rest() async {
    await withCheckedContinuation { continuation in
      let isAtRest = state.withLock { state in
        if !state.isAtRest { state.waiting.append(continuation) }
        return state.isAtRest
      }
      if isAtRest { continuation.resume() }
    }
  }

  /// Ends the wait in ``rest()``.
  func giveUp() {
    for waiting in state.withLock({ $0.takeWaiting() }) { waiting.resume() }
  }
}
