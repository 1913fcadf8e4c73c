import HostThreads
import TaskModel
import WorkerLink

/// Calls to the host. Each blocks only the calling thread.
final class HostCalls: Sendable {
  private let link: HostLink
  private let state = Guarded(State())

  private struct State {
    var lastNumber: UInt64 = 0
    var waiting: Set<UInt64> = []
    var answers: [UInt64: CallAnswer] = [:]
  }

  init(_ link: HostLink) { self.link = link }

  /// Calls and waits. The host always answers; if it ends, this process ends too.
  func ask(_ call: WorkerCall) throws(CallFailure) -> CallAnswer {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.waiting.insert(state.lastNumber)
      return state.lastNumber
    }
    link.send(.call(number: number, call))
    let answer = state.wait { (state) -> Guarded<State>.Look<CallAnswer> in
      state.answers.removeValue(forKey: number).map { .done($0) } ?? .again()
    }
    if case .failure(let failure) = answer { throw failure }
    return answer
  }

  /// Delivers an answer; drops it if no thread waits for it.
  func answered(_ number: UInt64, _ answer: CallAnswer) {
    state.withLock { state in if state.waiting.remove(number) != nil { state.answers[number] = answer } }
    state.broadcast()
  }
}
