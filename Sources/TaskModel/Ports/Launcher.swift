/// Runs handlers: in threads of the host, or in worker processes.
///
/// Every call returns at once; what comes of it arrives as ``LauncherEvent`` at the sink the launcher was made with.
public protocol Launcher: Sendable {
  /// Begins runs, those of one identifier in the order given, as many at once as its contract says. What is recorded of them is durable by
  /// now. Each order ends with exactly one `ended` or `withdrawn` event.
  func start(_ orders: [RunOrder])
  /// Takes runs back that have not begun. Each of them answers: `withdrawn` if it had not; `began` if it had, whether that was told before
  /// or not. One that has ended answers nothing more.
  func withdraw(_ runs: [RunID])
  /// Asks a run to stop: its expiration handler is called and its grace begins. A run that has expired or ended is left alone.
  func expire(_ run: RunID, reason: StopReason)
  /// Stops a run now, without the rest of its grace. A run that has ended is left alone.
  func force(_ run: RunID, reason: StopReason)
  /// Ends the launcher: calls the plugins' shutdown hooks. No run is live by now.
  ///
  /// - Returns: How many threads or processes could not be ended.
  func shutdown() -> Int
}

/// A run to begin.
public struct RunOrder: Sendable {
  /// The run.
  public var run: RunID
  /// Its request.
  public var request: RequestID
  /// Whose handler, under which limits.
  public var contract: HandlerContract
  /// 1 for a request's first run.
  public var attempt: Int
  /// What was submitted.
  public var payload: [UInt8]
  /// What a typed handler is called with, packed; nil for every other handler.
  public var arguments: [UInt8]?
  /// Its request is recorded as claimed, not as running: its begin is told as `began`, and until then it can be withdrawn.
  public var isAhead: Bool
  /// Its begin counts for a rate: it is told as `began` when its handler is called, and not before.
  public var tellsBegin: Bool

  /// An order as given.
  public init(
    run: RunID, request: RequestID, contract: HandlerContract, attempt: Int, payload: [UInt8], arguments: [UInt8]? = nil,
    isAhead: Bool = false, tellsBegin: Bool = false
  ) {
    self.run = run
    self.request = request
    self.contract = contract
    self.attempt = attempt
    self.payload = payload
    self.arguments = arguments
    self.isAhead = isAhead
    self.tellsBegin = tellsBegin
  }
}

/// What a launcher tells its host, from any of its threads.
public enum LauncherEvent: Sendable {
  /// A run that was handed out ahead, or whose begin counts, has begun, or is about to this moment. Sent before its handler's first call
  /// comes through.
  case began(RunID)
  /// A run ended. Sent once for every order that is not withdrawn.
  case ended(RunID, RunEnding, RunReport)
  /// A run has not begun, and never will: it was asked back, or the host lacks what it needs.
  case withdrawn(RunID)
  /// The host lacks something for the runs of the identifier, as the sentence says; those it could not begin come back as `withdrawn`.
  case shortage(TaskIdentifier, String, ShortageCause)
  /// It has what it needs again.
  case relieved(TaskIdentifier)
  /// A run was asked to stop.
  case expired(RunReference, StopReason)
  /// A run reported progress.
  case progress(RunReference, RunProgress)
  /// A run wrote a line.
  case log(RunReference, LogLine)
  /// A run's grace is over and its handler has not returned: the thread it hangs in and that thread's stack, a line each frame, as far as
  /// it could be had.
  case stuck(RunReference, thread: String, stack: String)
  /// A plugin wrote a line that belongs to no run: to its standard output or error, or from a thread of its own.
  case output(TaskIdentifier, LogLine)
  /// A plugin's worker did what no worker does, and was killed, while it had no run: a sentence, and the number of the incident.
  case misbehaved(TaskIdentifier, String, incident: UInt64)
  /// The plugin cannot take runs until `resumed`: a thread it overran is still in its hands.
  case suspended(TaskIdentifier, String)
  /// The plugin can take runs again.
  case resumed(TaskIdentifier)
}
