import HostControl
import Synchronization

/// A scheduler's place: keeps what event sockets hand over, and answers at once or when it is told to.
final class Arrivals: Sendable {
  /// One event.
  struct Event: Equatable {
    let name: String
    let payload: [UInt8]?

    var text: String? { payload.map { String(decoding: $0, as: UTF8.self) } }
  }

  struct Late: Error {}

  private struct State {
    var events: [Event] = []
    var answers: [@Sendable (Bool) -> Void] = []
    var isHolding: Bool
    var mostAtOnce = 0
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, any Error>)] = []
  }

  private let state: Mutex<State>
  private let isRecorded: Bool

  /// - Parameters:
  ///   - holding: Whether nothing is answered before ``release()``.
  ///   - recorded: What is answered.
  init(holding: Bool = false, recorded: Bool = true) {
    state = Mutex(State(isHolding: holding))
    isRecorded = recorded
  }

  var sink: EventSockets.Sink {
    { [self] name, payload, answer in
      let (isHeld, ready) = state.withLock { state in
        state.events.append(Event(name: name, payload: payload))
        if state.isHolding { state.answers.append(answer) }
        state.mostAtOnce = max(state.mostAtOnce, state.answers.count)
        let ready = state.waiting.filter { $0.count <= state.events.count }
        state.waiting.removeAll { $0.count <= state.events.count }
        return (state.isHolding, ready)
      }
      for waiting in ready { waiting.continuation.resume() }
      if !isHeld { answer(isRecorded) }
    }
  }

  /// Answers what waits for it, and from now on at once.
  func release() {
    let answers = state.withLock { state in
      state.isHolding = false
      defer { state.answers = [] }
      return state.answers
    }
    for answer in answers { answer(isRecorded) }
  }

  var events: [Event] { state.withLock { $0.events } }
  /// How many were unanswered at once, at most.
  var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

  /// The first `count` events, once that many have come.
  func first(_ count: Int, within limit: Duration = .seconds(60)) async throws -> [Event] {
    let late = Task {
      try await Task.sleep(for: limit)
      let waiting = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      for waiting in waiting { waiting.continuation.resume(throwing: Late()) }
    }
    defer { late.cancel() }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isThere = state.withLock { state in
        if state.events.count < count { state.waiting.append((count, continuation)) }
        return state.events.count >= count
      }
      if isThere { continuation.resume() }
    }
    return Array(events.prefix(count))
  }
}
