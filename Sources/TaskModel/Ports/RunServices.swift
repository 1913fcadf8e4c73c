/// What runs ask of the host beyond their own thread. Called on any thread of a plugin; each call blocks until its answer is durable.
public protocol RunServices: Sendable {
  /// The host's calendar, for `now_unix_ms`.
  var wallTime: WallTime { get }
  /// A value of the identifier's state; nil: no such key.
  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]?
  /// Writes a value of the identifier's state; nil deletes. Durable when it returns.
  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure)
  /// Where an earlier run of the request left off; nil: nowhere.
  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]?
  /// Records where this run is; nil clears it. Durable when it returns.
  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure)
  /// Submits a request on behalf of the run's plugin. Durable when it returns.
  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission
  /// Cancels a request on behalf of the run's plugin.
  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure)
  /// The pending requests of all identifiers of the run's plugin, the oldest first; those after `request`, or with nil from the first on.
  func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage
  /// Cancels the pending requests of one identifier of the run's plugin, or with nil of all of them; runs go on. Durable when it returns.
  ///
  /// - Returns: How many.
  func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int
  /// Whether somebody has these files open: an answer for each, in their order. `directory` is absolute, and entitled to the run's plugin.
  func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse]
}
