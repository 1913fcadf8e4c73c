/// Runs handlers: in threads of the host, or in worker processes.
///
/// Every call returns at once; what comes of it arrives as ``LauncherEvent`` at the sink the launcher was made with.
public protocol Launcher: Sendable {
  /// Begins runs. Their starts are durable by now. Each order ends with exactly one `ended` event.
  func start(_ orders: [RunOrder])
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

  /// An order as given.
  public init(run: RunID, request: RequestID, contract: HandlerContract, attempt: Int, payload: [UInt8], arguments: [UInt8]? = nil) {
    self.run = run
    self.request = request
    self.contract = contract
    self.attempt = attempt
    self.payload = payload
    self.arguments = arguments
  }
}

/// What a launcher tells its host, from any of its threads.
public enum LauncherEvent: Sendable {
  /// A run ended. Sent once for every order.
  case ended(RunID, RunEnding, RunReport)
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
  /// The plugin cannot take runs until `resumed`: a thread it overran is still in its hands.
  case suspended(TaskIdentifier, String)
  /// The plugin can take runs again.
  case resumed(TaskIdentifier)
}
