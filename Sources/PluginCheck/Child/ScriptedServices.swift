import HostThreads
import TaskModel

/// What runs ask of the host, answered as the case says: from memory, or by failures.
final class ScriptedServices: RunServices, @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  /// How a durable call is answered instead of being served; nil if it is served.
  typealias Fault = @Sendable (_ isWrite: Bool) -> CallFailure?

  private let monitor = Monitor()
  private var values: [String: [UInt8]] = [:]
  private var checkpoints: [RequestID: [UInt8]] = [:]
  private var ids = RecordIDGenerator(after: 0)
  private var fault: Fault?
  private var submitFault: CallFailure?
  private var foreignState: [UInt8]?
  private var clockStep = Duration.zero
  private var clockOffset = Duration.zero
  private var delay: (duration: Duration, isDue: @Sendable (RunReference) -> Bool)?
  private var durableCalls = 0
  private var submissions = 0
  private var delayed = 0

  /// Durable calls since this was last asked.
  func takeDurableCalls() -> Int {
    monitor.locked {
      defer { durableCalls = 0 }
      return durableCalls
    }
  }

  /// Submissions and cancellations so far.
  var submissionCount: Int { monitor.locked { submissions } }

  /// Calls that were answered late.
  var delayedCount: Int { monitor.locked { delayed } }

  /// How state and checkpoint calls fail from here on.
  func failDurable(_ fault: Fault?) { monitor.locked { self.fault = fault } }

  /// How submissions and cancellations fail from here on.
  func failSubmissions(_ failure: CallFailure?) { monitor.locked { submitFault = failure } }

  /// What every key that was not written has from here on.
  func fillState(_ value: [UInt8]) { monitor.locked { foreignState = value } }

  /// What the request left off with.
  func setCheckpoint(of request: RequestID, to value: [UInt8]) { monitor.locked { checkpoints[request] = value } }

  /// How far the wall clock jumps with every look at it.
  func jump(by step: Duration) { monitor.locked { clockStep = step } }

  /// Durable calls of runs that `isDue` names are answered that much later.
  func delayAnswers(by duration: Duration, of isDue: @escaping @Sendable (RunReference) -> Bool) {
    monitor.locked { delay = (duration, isDue) }
  }

  /// Forgets what was written.
  func clear() {
    monitor.locked {
      values = [:]
      checkpoints = [:]
    }
  }

  var wallTime: WallTime {
    monitor.locked {
      defer { clockOffset += clockStep }
      return SystemClock().wallTime + clockOffset
    }
  }

  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? {
    try serve(run, isWrite: false)
    return monitor.locked { values[key] ?? foreignState }
  }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try serve(run, isWrite: true)
    monitor.locked { values[key] = value }
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? {
    try serve(run, isWrite: false)
    return monitor.locked { checkpoints[run.request] }
  }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try serve(run, isWrite: true)
    monitor.locked { checkpoints[run.request] = value }
  }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    let (failure, sequence) = monitor.locked { () -> (CallFailure?, Int64) in
      submissions += 1
      return (submitFault, ids.next(at: SystemClock().wallTime))
    }
    if let failure { throw failure }
    return Submission(
      id: RequestID(sequence: sequence, origin: 1), disposition: .created, nextStart: request.earliestBegin ?? SystemClock().wallTime)
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) {
    let failure = countSubmission()
    throw failure ?? CallFailure(.notFound, "no such request")
  }

  func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage {
    if let failure = countSubmission() { throw failure }
    return PendingPage()
  }

  func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int {
    if let failure = countSubmission() { throw failure }
    return 0
  }

  /// Nobody has anything open where a plugin is checked.
  func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse] {
    files.map { _ in .notOpen }
  }

  private func countSubmission() -> CallFailure? {
    monitor.locked {
      submissions += 1
      return submitFault
    }
  }

  private func serve(_ run: RunReference, isWrite: Bool) throws(CallFailure) {
    let (fault, delay) = monitor.locked {
      durableCalls += 1
      return (self.fault, self.delay)
    }
    if let delay, delay.isDue(run) {
      monitor.locked { delayed += 1 }
      Pause.wait(delay.duration)
    }
    if let failure = fault?(isWrite) { throw failure }
  }
}
