import HostThreads
import TaskModel
import WorkerLink

/// Questions to the host and their answers: each blocks the thread that asks, and no other.
final class HostCalls: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let link: HostLink
  private let monitor = Monitor()
  private var lastNumber: UInt64 = 0
  private var waiting: Set<UInt64> = []
  private var answers: [UInt64: CallAnswer] = [:]

  init(_ link: HostLink) { self.link = link }

  /// Asks and waits. The host always answers, or is gone and takes this process with it.
  func ask(_ call: WorkerCall) throws(CallFailure) -> CallAnswer {
    let number = monitor.locked { () -> UInt64 in
      lastNumber += 1
      waiting.insert(lastNumber)
      return lastNumber
    }
    link.send(.call(number: number, call))
    let answer = monitor.locked { () -> CallAnswer? in
      while answers[number] == nil { monitor.wait() }
      return answers.removeValue(forKey: number)
    }
    guard let answer else { throw CallFailure(.internal, "the host's answer was lost") }
    if case .failure(let failure) = answer { throw failure }
    return answer
  }

  /// The host has answered. An answer nobody waits for is dropped.
  func answered(_ number: UInt64, _ answer: CallAnswer) {
    monitor.locked {
      guard waiting.remove(number) != nil else { return }
      answers[number] = answer
      monitor.broadcast()
    }
  }
}
