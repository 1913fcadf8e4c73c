import HostThreads
import TaskModel

/// The host's services for runs, as the case sets them: answers from memory, or failures.
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

  /// The number of durable calls since the last call of this function.
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

  /// Sets how state and checkpoint calls fail.
  func failDurable(_ fault: Fault?) { monitor.locked { self.fault = fault } }

  /// Sets how submissions and cancellations fail.
  func failSubmissions(_ failure: CallFailure?) { monitor.locked { submitFault = failure } }

  /// Sets the value of every key that was not written.
  func fillState(_ value: [UInt8]) { monitor.locked { foreignState = value } }

  /// Sets the checkpoint of a request.
  func setCheckpoint(of request: RequestID, to value: [UInt8]) { monitor.locked { checkpoints[request] = value } }

  /// Sets how far the wall clock jumps each time it is read.
  func jump(by step: Duration) { monitor.locked { clockStep = step } }

  /// Delays the answers to durable calls of runs that `isDue` selects.
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

  /// During a check, no file counts as open.
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
