import TaskModel

extension SchedulerCore {
  /// Every gate that holds a request now, a sentence each; none: it starts as soon as the scheduler turns.
  func gates(of record: RequestRecord, now: WallTime) -> [String] {
    switch record.state {
    case .succeeded, .failed, .cancelled: return ["it has ended: \(record.state.rawValue)"]
    case .running: return [record.stopRequested.map { "it is running and was asked to stop: \($0.rawValue)" } ?? "it is running"]
    case .blocked, .pending, .claimed: break
    }
    var gates: [String] = []
    if let predecessor = record.blockedBy { gates.append("it waits for a run of \(predecessor) to end") }
    if record.due > now {
      let wait = Self.text(record.due - now)
      gates.append(
        record.lastOutcome == .retried || record.lastOutcome == .expired || record.lastOutcome == .crashed
          ? "backoff after attempt \(record.attemptsSpent): not for another \(wait)" : "not before its time: due in \(wait)")
    }
    guard let handler = handlers[record.request.identifier] else {
      return gates + ["no plugin has registered \(record.request.identifier)"]
    }
    if let gate = gate(of: record.request.identifier, now: now) { gates.append(gate) }
    if let reason = handler.suspension { gates.append("the plugin is suspended: \(reason)") }
    if handler.running >= handler.contract.maxConcurrentRuns {
      let runs = live.values.filter { $0.identifier == record.request.identifier }.map(\.run.description).sorted()
      gates.append("the plugin is busy: \(handler.running) of \(handler.contract.maxConcurrentRuns) runs, \(runs.joined(separator: ", "))")
    }
    if live.count >= policy.maxConcurrentRuns { gates.append("all \(policy.maxConcurrentRuns) run slots of the host are taken") }
    if isDraining { gates.append("the host is draining") }
    if let storeTrouble { gates.append("the store does not work: \(storeTrouble)") }
    return gates
  }

  static func text(_ duration: Duration) -> String {
    let seconds = max(0, duration.wholeMilliseconds + 999) / 1000
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) d"
    }
  }
}
