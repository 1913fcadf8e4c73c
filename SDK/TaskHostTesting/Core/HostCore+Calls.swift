import CTaskHost
import TaskHostSDK

/// What runs ask of the host. All with the lock held.
extension HostCore {
  /// Before a call reaches the store: it takes the time it is to take, and fails if it is to fail.
  func reachStore(_ call: HostCall, _ run: RunState) throws(CallFailure) {
    try sleep(run, for: faults.delay(of: call), untilExpired: false)
    guard run.phase == .live else { throw .stale }
    if let failure = faults.failure(of: call, at: now) { throw failure }
  }

  /// Something happened that interruptions may be bound to.
  private func happened(_ run: RunState, _ isMeant: (Moment.Kind) -> Bool) throws(CallFailure) {
    for interruption in run.takeInterruptions(at: isMeant) { interrupt(run, interruption.kind) }
    if run.phase != .live { throw .stale }
  }

  func setState(_ run: RunState, _ key: String, _ value: [UInt8]?) throws(CallFailure) {
    try reachStore(.stateSet, run)
    try memory[run.report.identifier, default: StoredState()].set(key, value)
    run.report.stateWrites += 1
    let number = run.report.stateWrites
    try happened(run) { $0 == .stateWrite(number) }
  }

  func setCheckpoint(_ run: RunState, _ value: [UInt8]?) throws(CallFailure) {
    guard let value else {
      try reachStore(.checkpointSet, run)
      requests[run.report.requestID]?.checkpoint = nil
      return
    }
    let number = run.report.checkpoints.count + 1
    try happened(run) { $0 == .beforeCheckpoint(number) }
    try reachStore(.checkpointSet, run)
    requests[run.report.requestID]?.checkpoint = value
    run.report.checkpoints.append(value)
    try happened(run) { $0 == .checkpoint(number) }
  }

  func progress(_ run: RunState, _ completed: UInt64, _ total: UInt64) throws(CallFailure) {
    let completed = total == 0 ? completed : min(completed, total)
    run.report.progress.append(RunProgress(time: now - run.report.started, completed: completed, total: total))
    if completed > run.highestCompleted {
      run.highestCompleted = completed
      if let limit = run.stallLimit { run.stallEnd = now + limit }
    }
    try happened(run) { if case .progress(let wanted) = $0 { completed >= wanted } else { false } }
  }

  func submit(_ request: SubmittedRequest, by run: RunState) throws(CallFailure) -> SubmissionAnswer {
    try reachStore(.submit, run)
    try checkMaySubmit(run.plugin, request.identifier)
    let answer = try accept(request)
    run.report.submissions.append(request)
    let number = run.report.submissions.count
    try happened(run) { $0 == .submission(number) }
    return answer
  }

  func cancel(_ run: RunState, _ id: String) throws(CallFailure) {
    guard RequestIDs.isOne(id) else { throw CallFailure(TASKHOST_EINVAL, "\"\(id.escapingControlCharacters)\" is no request id") }
    try reachStore(.cancel, run)
    guard let record = requests[id.lowercased()], record.isLive else {
      throw CallFailure(TASKHOST_ENOTFOUND, "there is no live request \(id)")
    }
    try checkMaySubmit(run.plugin, record.submitted.identifier)
    run.report.cancellations.append(record.id)
    cancelRequest(record.id)
    if run.phase != .live { throw .stale }
  }

  func cancelPending(_ run: RunState, of identifiers: [String]) throws(CallFailure) -> Int {
    try reachStore(.cancel, run)
    let ids = waiting(of: identifiers)
    run.report.cancellations += ids
    ids.forEach(cancelRequest)
    return ids.count
  }

  /// A plugin may submit to its own identifiers and to those the operator lets it.
  func checkMaySubmit(_ plugin: HostedPlugin, _ identifier: String) throws(CallFailure) {
    guard plugin.registers(identifier) || options.maySubmit.contains(where: { Pattern.matches($0, identifier) }) else {
      throw CallFailure(
        TASKHOST_ENOTPERMITTED, "\(plugin.handlers.first?.identifier ?? "the plugin") may not submit to \(identifier): add it to may_submit"
      )
    }
  }
}

/// An identifier in full, or the beginning of one with a final `*`.
enum Pattern {
  static func matches(_ pattern: String, _ identifier: String) -> Bool {
    pattern.hasSuffix("*") ? identifier.hasPrefix(pattern.dropLast()) : identifier == pattern
  }
}
