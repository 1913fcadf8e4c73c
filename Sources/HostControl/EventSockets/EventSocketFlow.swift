import Synchronization

/// The events of one socket on their way to the scheduler: in their order, a few at a time.
///
/// Datagrams wait in an ``EventQueue`` until the scheduler takes them: a flood costs its own oldest datagrams, but no memory, and the other
/// sockets keep their turns. Every call may be made on any thread.
final class EventSocketFlow: Sendable {
  private struct State {
    var queue = EventQueue()
    var handedOver = 0
    /// Whether a thread is handing over: only one does, or the order would be lost.
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

  /// The most events of a socket handed over at once; they share a commit.
  private static let handedOverAtOnce = 32

  init(event: String, tally: EventSocketTally) {
    self.event = event
    self.tally = tally
  }

  /// Where events go; set before the first one is taken.
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

  /// The next one to hand over; nil: whoever adds or records one hands over again.
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

  /// Waits until everything that was taken is recorded, or ``giveUp()`` is called.
  func rest() async {
    await withCheckedContinuation { continuation in
      let isAtRest = state.withLock { state in
        if !state.isAtRest { state.waiting.append(continuation) }
        return state.isAtRest
      }
      if isAtRest { continuation.resume() }
    }
  }

  /// Ends what waits in ``rest()``.
  func giveUp() {
    for waiting in state.withLock({ $0.takeWaiting() }) { waiting.resume() }
  }
}
