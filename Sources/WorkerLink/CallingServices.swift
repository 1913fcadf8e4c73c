public import TaskModel

/// Services for runs, each a ``WorkerCall`` with its answer: over the link in a worker, within the process in the host's own threads.
public protocol CallingServices: RunServices {
  /// Sends a call and blocks the calling thread until it is answered. Throws if the answer is a failure.
  func ask(_ call: WorkerCall, for run: RunReference) throws(CallFailure) -> CallAnswer
}

extension CallFailure {
  /// The failure for an answer of the wrong kind.
  public static let misunderstood = CallFailure(.internal, "the host gave an answer of the wrong kind")
}

extension CallingServices {
  /// As the protocol says.
  public func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? { try bytes(.state(run.run, key: key), run) }

  /// As the protocol says.
  public func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    _ = try ask(.setState(run.run, key: key, value: value), for: run)
  }

  /// As the protocol says.
  public func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? { try bytes(.checkpoint(run.run), run) }

  /// As the protocol says.
  public func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    _ = try ask(.setCheckpoint(run.run, value), for: run)
  }

  /// As the protocol says.
  public func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    try submission(.submit(run.run, request), run)
  }

  /// As the protocol says.
  public func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) { _ = try ask(.cancel(run.run, request), for: run) }

  /// As the protocol says.
  public func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage {
    guard case .pending(let page) = try ask(.pending(run.run, after: request), for: run) else { throw .misunderstood }
    return page
  }

  /// As the protocol says.
  public func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int {
    guard case .count(let count) = try ask(.cancelPending(run.run, of: identifier), for: run) else { throw .misunderstood }
    return count
  }

  /// As the protocol says.
  public func notify(_ event: String, payload: [UInt8]?, for run: RunReference) throws(CallFailure) -> Int {
    guard case .count(let count) = try ask(.notify(run.run, event: event, payload: payload), for: run) else { throw .misunderstood }
    return count
  }

  /// As the protocol says.
  public func answer(to question: PluginQuestion, for run: RunReference) throws(CallFailure) -> AnswerPage {
    guard case .page(let page) = try ask(.ask(run.run, question), for: run) else { throw .misunderstood }
    return page
  }

  /// As the protocol says.
  public func snooze(_ request: RequestID, for delay: Duration, from run: RunReference) throws(CallFailure) -> Submission {
    try submission(.snooze(run.run, request, for: delay), run)
  }

  /// As the protocol says.
  public func update(_ request: RequestID, with fields: TaskRequest, from run: RunReference) throws(CallFailure) -> Submission {
    try submission(.update(run.run, request, with: fields), run)
  }

  private func submission(_ call: WorkerCall, _ run: RunReference) throws(CallFailure) -> Submission {
    guard case .submission(let submission) = try ask(call, for: run) else { throw .misunderstood }
    return submission
  }

  /// As the protocol says.
  public func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse] {
    guard let answers = try bytes(.openFiles(run.run, in: directory, files), run) else { throw .misunderstood }
    return try FileUse.decoding(answers, of: files.count)
  }

  /// As the protocol says.
  public func beginAssertion(_ request: AssertionRequest, for run: RunReference) throws(CallFailure) -> AssertionID {
    let call = WorkerCall.beginAssertion(run.run, name: request.name, reason: request.reason, length: request.length)
    guard case .assertion(let id) = try ask(call, for: run) else { throw .misunderstood }
    return id
  }

  /// As the protocol says.
  public func endAssertion(_ id: AssertionID, for run: RunReference) throws(CallFailure) {
    _ = try ask(.endAssertion(run.run, id), for: run)
  }

  /// As the protocol says.
  public func transferFolder(for run: RunReference) throws(CallFailure) -> String {
    guard case .text(let path) = try ask(.transferFolder(run.run), for: run) else { throw .misunderstood }
    return path
  }

  /// As the protocol says.
  public func submitTransfer(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    try submission(.submitTransfer(run.run, request), run)
  }

  /// As the protocol says.
  public func change(transfer id: RequestID, _ change: TransferChange, for run: RunReference) throws(CallFailure) {
    _ = try ask(.changeTransfer(run.run, id, change), for: run)
  }

  private func bytes(_ call: WorkerCall, _ run: RunReference) throws(CallFailure) -> [UInt8]? {
    guard case .bytes(let bytes) = try ask(call, for: run) else { throw .misunderstood }
    return bytes
  }
}
