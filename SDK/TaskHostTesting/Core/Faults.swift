import CTaskHost
import TaskModel

struct Faults {
  /// Calls that fail, by number, counted since the fault was injected, or by time.
  struct Failing {
    let calls: HostCall
    let numbers: Range<Int>
    let times: Range<Duration>
    let status: taskhost_status
    let message: String
    var seen = 0
  }

  var failing: [Failing] = []
  var delays: [(calls: HostCall, delay: Duration)] = []

  /// Counts the call; returns its failure, `nil` if it succeeds.
  mutating func failure(of call: HostCall, at now: Duration) -> CallFailure? {
    var found: CallFailure?
    for index in failing.indices where failing[index].calls.contains(call) {
      failing[index].seen += 1
      let fault = failing[index]
      guard found == nil, fault.numbers.contains(fault.seen), fault.times.contains(now) else { continue }
      found = CallFailure(CallFailure.Status(rawValue: fault.status) ?? .internal, fault.message)
    }
    return found
  }

  func delay(of call: HostCall) -> Duration { delays.filter { $0.calls.contains(call) }.map(\.delay).reduce(.zero, +) }
}
