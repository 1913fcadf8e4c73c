/// Runs handlers: in threads of the host, or in worker processes.
///
/// Every call returns immediately. Its results arrive as ``LauncherEvent`` at the sink that the launcher was created with.
public protocol Launcher: Sendable {
  /// Starts runs whose records are already durable. Runs of one identifier start in the given order, as many at once as its contract
  /// allows. Each order ends with exactly one `ended` or `withdrawn` event.
  func start(_ orders: [RunOrder])
  /// Takes back runs that have not started. Each run answers: `withdrawn` if it had not started; `began` if it had, even if it has already
  /// sent that event. A run that has ended does not answer.
  func withdraw(_ runs: [RunID])
  /// Asks a run to stop: calls its expiration handler and starts its grace. Does nothing for a run that has expired or ended.
  func expire(_ run: RunID, reason: StopReason)
  /// Stops a run immediately, without the rest of its grace. Does nothing for a run that has ended.
  func force(_ run: RunID, reason: StopReason)
  /// Ends the launcher and calls the plugins' shutdown hooks. No run may be live.
  ///
  /// - Returns: The number of threads or processes that could not be ended.
  func shutdown() -> Int
}

/// A run to start.
public struct RunOrder: Sendable {
  /// The run.
  public var run: RunID
  /// Its request.
  public var request: RequestID
  /// The handler and its limits.
  public var contract: HandlerContract
  /// 1 for a request's first run.
  public var attempt: Int
  /// The request's payload.
  public var payload: [UInt8]
  /// The packed arguments of a typed handler; nil for other handlers.
  public var arguments: [UInt8]?
  /// Whether the request is recorded as claimed, not as running. The launcher then reports the run's start as `began`; until then, the run
  /// can be withdrawn.
  public var isAhead: Bool
  /// Whether the run's start counts for a rate. The launcher then reports `began` when it calls the handler, not before.
  public var tellsBegin: Bool
  /// The earliest time at which the handler may be called, less than a millisecond away; nil: at once. The run's thread stays awake for the
  /// last part of the wait, so that it calls the handler on time.
  public var notBefore: MonotonicTime?
  /// The run's trace; nil if its request was submitted without one, and the host makes none.
  public var trace: RunTrace?
  /// For a request of a fleet: greater than that of every earlier owner of the request.
  public var fencingToken: Int64?

  /// Creates an order.
  public init(
    run: RunID, request: RequestID, contract: HandlerContract, attempt: Int, payload: [UInt8], arguments: [UInt8]? = nil,
    isAhead: Bool = false, tellsBegin: Bool = false, notBefore: MonotonicTime? = nil, trace: RunTrace? = nil,
    fencingToken: Int64? = nil
  ) {
    self.run = run
    self.request = request
    self.contract = contract
    self.attempt = attempt
    self.payload = payload
    self.arguments = arguments
    self.isAhead = isAhead
    self.tellsBegin = tellsBegin
    self.notBefore = notBefore
    self.trace = trace
    self.fencingToken = fencingToken
  }
}

/// What a launcher reports to its host, from any of its threads.
public enum LauncherEvent: Sendable {
  /// A claimed run, or a run whose start counts for a rate, has started or starts now. Sent before the first call from its handler arrives.
  case began(RunID)
  /// A run ended. Sent once for every order that was not withdrawn.
  case ended(RunID, RunEnding, RunReport)
  /// A run will never start: it was taken back, or the host lacks what it needs.
  case withdrawn(RunID)
  /// The host lacks something for the runs of the identifier, as the sentence says. Runs that could not start come back as `withdrawn`.
  case shortage(TaskIdentifier, String, ShortageCause)
  /// The shortage is over.
  case relieved(TaskIdentifier)
  /// A run was asked to stop.
  case expired(RunReference, StopReason)
  /// A run reported progress.
  case progress(RunReference, RunProgress)
  /// A run's counts have changed: all that it has counted so far.
  case work(RunReference, RunWork)
  /// A run wrote a log line.
  case log(RunReference, LogLine)
  /// A run's grace is over and its handler has not returned: the name of its thread, and that thread's stack, one line per frame, as far as
  /// it could be read.
  case stuck(RunReference, thread: String, stack: String)
  /// A plugin wrote a line that belongs to no run: to standard output or error, or from a thread of its own.
  case output(TaskIdentifier, LogLine)
  /// A plugin's worker broke the protocol and was killed while it had no run: a sentence and the incident's number.
  case misbehaved(TaskIdentifier, String, incident: UInt64)
  /// The plugin cannot take runs until `resumed`: a run exceeded its grace, and its thread has not returned.
  case suspended(TaskIdentifier, String)
  /// The plugin can take runs again.
  case resumed(TaskIdentifier)
}
