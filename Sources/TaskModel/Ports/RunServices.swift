/// The host's services for runs. Called on any thread of a plugin; each call blocks until its result is durable.
public protocol RunServices: Sendable {
  /// The host's calendar, for `now_unix_ms`.
  var wallTime: WallTime { get }
  /// A value of the identifier's state; nil if the key does not exist.
  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]?
  /// Writes a value of the identifier's state; nil deletes it. Durable when it returns.
  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure)
  /// The checkpoint of an earlier run of the request; nil if there is none.
  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]?
  /// Writes the checkpoint of this run; nil deletes it. Durable when it returns.
  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure)
  /// Submits a request on behalf of the run's plugin. Durable when it returns.
  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission
  /// Cancels a request on behalf of the run's plugin.
  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure)
  /// The pending requests of all identifiers of the run's plugin, oldest first, starting after `request` (nil: from the first).
  func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage
  /// Cancels the pending requests of one identifier of the run's plugin, or of all (nil). Live runs continue. Durable when it returns.
  ///
  /// - Returns: The number of cancelled requests.
  func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int
  /// Raises an event on behalf of the run's plugin. Durable when it returns.
  ///
  /// - Parameter payload: Replaces the payload of the runs that it wakes; nil keeps each request's own.
  /// - Returns: The number of requests that wait for it.
  func notify(_ event: String, payload: [UInt8]?, for run: RunReference) throws(CallFailure) -> Int
  /// Answers a question on behalf of the run's plugin, which may ask about its own identifiers and those that it may submit to.
  func answer(to question: PluginQuestion, for run: RunReference) throws(CallFailure) -> AnswerPage
  /// Postpones a waiting request of an identifier that the plugin may submit to, by `delay` from now. Durable when it returns.
  ///
  /// - Returns: When it starts at the earliest, as a submission's answer.
  func snooze(_ request: RequestID, for delay: Duration, from run: RunReference) throws(CallFailure) -> Submission
  /// Replaces the fields of a live request of an identifier that the plugin may submit to. Durable when it returns.
  func update(_ request: RequestID, with fields: TaskRequest, from run: RunReference) throws(CallFailure) -> Submission
  /// Whether any process has these files open: one answer per file, in the same order. `directory` is absolute, and the run's plugin must
  /// be entitled to it.
  func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse]
  /// The folder of the run's plugin for transfers, an absolute path. Throws `notPermitted` if the operator does not allow it any.
  func transferFolder(for run: RunReference) throws(CallFailure) -> String
  /// Submits a transfer on behalf of the run's plugin: a request of ``TaskIdentifier/transfers`` whose files are names in the plugin's folder.
  /// Durable when it returns.
  func submitTransfer(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission
  /// Cancels, pauses or resumes a live transfer of the run's plugin. Throws `notFound` for any other. Durable when it returns.
  func change(transfer id: RequestID, _ change: TransferChange, for run: RunReference) throws(CallFailure)
  /// Takes an execution assertion for the run. The host ends it at its time, and with the run. Its holder is the run, whatever it says.
  func beginAssertion(_ request: AssertionRequest, for run: RunReference) throws(CallFailure) -> AssertionID
  /// Gives back an execution assertion of the run. Throws `notFound` if the run does not hold it.
  func endAssertion(_ id: AssertionID, for run: RunReference) throws(CallFailure)
}
