import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// Sends to the fleet what was parked in the host's own store while the database was away, also before the host was launched.
final class FleetParking: Sendable {
  private struct State {
    /// Whether something may be parked.
    var mayHave = true
    /// How many are on their way.
    var moving = 0
    /// Up to which all were sent in this round: one that the fleet has no room for keeps no other one waiting.
    var sent: RequestID?
    /// When those that the database did not take are sent again.
    var due = MonotonicTime(nanoseconds: 0)
  }

  private let state = Guarded(State())

  /// How many are sent at once, and how long after a failure they are sent again.
  private static let atOnce = 100
  private static let pause = Duration.seconds(1)

  /// An idempotency key that nobody else has.
  static func newKey() -> String { "park:\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))" }

  /// Something was parked.
  func added() { state.withLock { $0.mayHave = true } }

  /// Sends what is parked, if nothing is on its way. The database answers.
  func move(by agent: FleetAgent) {
    let (begins, sent) = state.withLock { state in
      guard state.mayHave, state.moving == 0, SystemClock.now >= state.due else { return (false, nil as RequestID?) }
      (state.mayHave, state.moving) = (false, 1)
      return (true, state.sent)
    }
    guard begins else { return }
    agent.scheduler.perform(.parked(fleet: agent.place.origin, after: sent, limit: Self.atOnce)) { [self, weak agent] result in
      guard let agent, case .success(let parked) = result else { return ended(isDone: false) }
      state.withLock { state in
        state.moving += parked.count
        // There may be more of them.
        let isLast = parked.count < Self.atOnce
        state.sent = isLast ? nil : parked.last?.id
        if !isLast || sent != nil { state.mayHave = true }
      }
      for one in parked { send(one, by: agent) }
      ended(isDone: true)
    }
  }

  private func send(_ parked: ParkedSubmission, by agent: FleetAgent) {
    agent.submit(parked.submission) { [self, weak agent] result in
      guard let agent else { return ended(isDone: false) }
      let done: @Sendable (Result<Void, RequestRefusal>) -> Void = { [self] in ended(isDone: (try? $0.get()) != nil) }
      switch result {
      case .success(let submission):
        agent.scheduler.perform(.unpark(parked.id, as: submission.id)) { [self] result in
          // It was cancelled here while it was on its way.
          if case .success(false) = result { agent.cancelSent(submission.id) }
          ended(isDone: (try? result.get()) != nil)
        }
      // There is room again when others have ended.
      case .failure(let refusal) where refusal.code == .unavailable || refusal.code == .limit: ended(isDone: false)
      case .failure(let refusal):
        agent.log.error("the fleet refuses the parked request \(parked.id): \(refusal)")
        agent.scheduler.perform(.refuseParked(parked.id, because: refusal), completion: done)
      }
    }
  }

  private func ended(isDone: Bool) {
    state.withLock { state in
      state.moving -= 1
      guard !isDone else { return }
      (state.mayHave, state.due) = (true, SystemClock.now + Self.pause)
    }
  }
}

extension FleetAgent {
  /// How many submissions are parked.
  func parkedCount() async -> Int {
    await withCheckedContinuation { continuation in
      scheduler.perform(.parkedCount) { continuation.resume(returning: (try? $0.get()) ?? 0) }
    }
  }

  /// Cancels a request of the fleet that has just been added, also if a host has it by now.
  fileprivate func cancelSent(_ id: RequestID) {
    state.withLock { $0.cancelledOnTheWay.append(id) }
    wakeForWork()
  }
}
