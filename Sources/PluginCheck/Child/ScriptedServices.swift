import HostThreads
import TaskModel

/// The host's services for runs. They answer from memory, or fail as the case demands.
final class ScriptedServices: RunServices {
  /// The failure of a durable call; nil to serve it.
  typealias Fault = @Sendable (_ isWrite: Bool) -> CallFailure?

  /// The case's settings, the stored values and the counts.
  struct Script {
    /// The value of each key that was not written.
    var foreignState: [UInt8]?
    var values: [String: [UInt8]] = [:]
    var checkpoints: [RequestID: [UInt8]] = [:]
    /// How state and checkpoint calls fail.
    var fault: Fault?
    /// How submissions and cancellations fail.
    var submitFault: CallFailure?
    /// How submissions of requests that wake the machine fail.
    var wakeFault: CallFailure?
    /// The submissions of such requests.
    var wakes = 0
    /// How far the wall clock jumps with each reading.
    var clockStep = Duration.zero
    /// Delays the answers to durable calls of runs that `isDue` selects.
    var delay: (duration: Duration, isDue: @Sendable (RunReference) -> Bool)?
    var durableCalls = 0
    var submissions = 0
    var delayed = 0
    fileprivate var ids = RecordIDGenerator(after: 0)
    fileprivate var clockOffset = Duration.zero
  }

  let script = Guarded(Script())
  private let submittedTransfers: Guarded<ScriptedTransfers>

  /// - Parameter dataDirectory: The plugin's. Its folder for transfers is made beside it.
  init(besides dataDirectory: String) {
    let parent = dataDirectory.lastIndex(of: "/").map { String(dataDirectory[..<$0]) } ?? "."
    submittedTransfers = Guarded(ScriptedTransfers(folder: parent + "/transfers"))
  }

  /// What was submitted to the transfers' own plugin, oldest first.
  var transfers: [RequestRecord] { submittedTransfers.withLock { $0.records } }

  func endTransfer(_ id: RequestID, as state: RequestState) { submittedTransfers.withLock { $0.end(id, as: state) } }

  /// Forgets what was written.
  func clear() { script.withLock { ($0.values, $0.checkpoints) = ([:], [:]) } }

  var wallTime: WallTime {
    script.withLock { script in
      defer { script.clockOffset += script.clockStep }
      return SystemClock().wallTime + script.clockOffset
    }
  }

  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? {
    try serve(run, isWrite: false)
    return script.withLock { $0.values[key] ?? $0.foreignState }
  }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try serve(run, isWrite: true)
    script.withLock { $0.values[key] = value }
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? {
    try serve(run, isWrite: false)
    return script.withLock { $0.checkpoints[run.request] }
  }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try serve(run, isWrite: true)
    script.withLock { $0.checkpoints[run.request] = value }
  }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    if let failure = countSubmission() { throw failure }
    if request.gates.wakes {
      let fault = script.withLock { script in
        script.wakes += 1
        return script.wakeFault
      }
      if let fault { throw fault }
    }
    let id = RequestID(sequence: script.withLock { $0.ids.next(at: SystemClock().wallTime) }, origin: 1)
    return Submission(id: id, disposition: .created, nextStart: request.earliestBegin ?? SystemClock().wallTime)
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) {
    throw countSubmission() ?? CallFailure(.notFound, "no such request")
  }

  func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage {
    if let failure = countSubmission() { throw failure }
    return PendingPage()
  }

  func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int {
    if let failure = countSubmission() { throw failure }
    return 0
  }

  func notify(_ event: String, payload: [UInt8]?, for run: RunReference) throws(CallFailure) -> Int {
    if let failure = countSubmission() { throw failure }
    return 0
  }

  func answer(to question: PluginQuestion, for run: RunReference) throws(CallFailure) -> AnswerPage {
    if let failure = countSubmission() { throw failure }
    switch question {
    case .requests, .runs: return AnswerPage()
    case .transfers(let after):
      guard after == nil else { return AnswerPage() }
      return submittedTransfers.withLock { transfers in
        AnswerPage(texts: transfers.live.prefix(AnswerPage.countLimit).compactMap { transfers.answer($0.id) })
      }
    case .transfer(let id):
      guard let text = submittedTransfers.withLock({ $0.answer(id) }) else { throw CallFailure(.notFound, "there is no such transfer") }
      return AnswerPage(texts: [text])
    case .conditions: return AnswerPage(texts: [Array(#"{"conditions":[]}"#.utf8)])
    case .request, .explanation, .lastSuccess: throw CallFailure(.notFound, "there is no such request or run")
    }
  }

  func snooze(_ request: RequestID, for delay: Duration, from run: RunReference) throws(CallFailure) -> Submission {
    throw countSubmission() ?? CallFailure(.notFound, "no such request")
  }

  func update(_ request: RequestID, with fields: TaskRequest, from run: RunReference) throws(CallFailure) -> Submission {
    throw countSubmission() ?? CallFailure(.notFound, "no such request")
  }

  /// During a check, no file counts as open.
  func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse] {
    files.map { _ in .notOpen }
  }

  /// Each is granted. The runtime alone ends it.
  func beginAssertion(_ request: AssertionRequest, for run: RunReference) throws(CallFailure) -> AssertionID {
    AssertionID(sequence: script.withLock { $0.ids.next(at: SystemClock().wallTime) }, origin: 1)
  }

  func endAssertion(_ id: AssertionID, for run: RunReference) throws(CallFailure) {}

  func transferFolder(for run: RunReference) throws(CallFailure) -> String {
    if let failure = countSubmission() { throw failure }
    return submittedTransfers.withLock { $0.folder }
  }

  /// Each that a host would take is taken, and never carried out.
  func submitTransfer(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    let order = try submittedTransfers.withLock { $0 }.order(request, from: run.identifier)
    let submission = try submit(order, for: run)
    submittedTransfers.withLock { $0.add(submission.id, order, now: SystemClock().wallTime) }
    return submission
  }

  func change(transfer id: RequestID, _ change: TransferChange, for run: RunReference) throws(CallFailure) {
    if let failure = countSubmission() { throw failure }
    guard submittedTransfers.withLock({ $0.live.contains { $0.id == id } }) else { throw CallFailure(.notFound, "no such live transfer") }
    if change == .cancel { endTransfer(id, as: .cancelled) }
  }

  private func countSubmission() -> CallFailure? {
    script.withLock { script in
      script.submissions += 1
      return script.submitFault
    }
  }

  private func serve(_ run: RunReference, isWrite: Bool) throws(CallFailure) {
    let (fault, delay) = script.withLock { script in
      script.durableCalls += 1
      return (script.fault, script.delay)
    }
    if let delay, delay.isDue(run) {
      script.withLock { $0.delayed += 1 }
      Pause.wait(delay.duration)
    }
    if let failure = fault?(isWrite) { throw failure }
  }
}
