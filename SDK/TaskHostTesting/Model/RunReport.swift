public import TaskHostSDK

/// What a run did: everything it told the host, and how it ended. Times are on the virtual clock.
public struct RunReport: Sendable {
  /// The identifier of the handler that ran.
  public let identifier: String
  /// The id of the request, the same for all its attempts.
  public let requestID: String
  /// 1 for the first run, plus one for each attempt spent.
  public let attempt: Int
  /// The payload that the handler received.
  public let payload: [UInt8]
  /// When the run began, since the test host began.
  public let started: Duration
  /// When the run ended, since the test host began; `nil` while it is live.
  public internal(set) var ended: Duration?
  /// How the run ended; `nil` while it is live.
  public internal(set) var ending: RunEnding?
  /// Why the host asked the run to stop; `none` if it did not.
  public internal(set) var stopReason = StopReason.none
  /// When the host asked the run to stop, since the run began; `nil` if it did not.
  public internal(set) var expiredAfter: Duration?
  /// The run's own explanation of a failure or retry, or what was wrong with the returned value.
  public internal(set) var message: String?
  /// The last output that the run set.
  public internal(set) var output: [UInt8]?
  /// Every report of progress.
  public internal(set) var progress: [RunProgress] = []
  /// What the run counted, with a meter, `addWork` or the table of C; all zero if it counted nothing.
  public internal(set) var work = WorkCounts()
  /// Every line that the run logged; the test host drops none.
  public internal(set) var log: [LogLine] = []
  /// Every checkpoint that the run wrote, without deletions.
  public internal(set) var checkpoints: [[UInt8]] = []
  /// How often the run wrote or deleted state values.
  public internal(set) var stateWrites = 0
  /// The requests that the run submitted, in order, as it asked for them.
  public internal(set) var submissions: [SubmittedRequest] = []
  /// The ids of the requests that the run cancelled, by `cancel` or through the extension.
  public internal(set) var cancellations: [String] = []
  /// The events that the run raised, in order.
  public internal(set) var events: [RaisedEvent] = []
  /// The execution assertions that the run took, in order.
  public internal(set) var assertions: [RunAssertion] = []
  /// The parts that the run measured for its trace, in the order of their ends; none if its request had no recorded `traceparent`.
  public internal(set) var spans: [MeasuredSpan] = []
  /// The planned interruptions that had not happened when the run ended. A test that relies on an interruption should expect none here.
  public internal(set) var missedInterruptions: [Interruption] = []

  /// What the handler returned, with the delay it asked for; `nil` if it has not returned.
  public var result: TaskResult? {
    guard case .returned(let result) = ending else { return nil }
    return result
  }

  /// The outcome that the host records; `nil` while the run is live.
  public internal(set) var outcome: RunOutcome?

  /// Whether the host asked the run to stop before it ended.
  public var isExpired: Bool { stopReason != .none }

  /// How long the run took on the virtual clock; `nil` while it is live.
  public var duration: Duration? { ended.map { $0 - started } }

  /// The output, decoded from JSON as payloads are.
  ///
  /// - Throws: `DecodingError`; ``TestHostError`` when there is no output.
  public func output<Value: Decodable>(as type: Value.Type) throws -> Value {
    guard let output else { throw TestHostError.nothingThere("the run set no output") }
    return try TestJSON.decode(type, from: output)
  }

  /// The last checkpoint that the run wrote, decoded from JSON.
  ///
  /// - Throws: `DecodingError`; ``TestHostError`` when the run wrote none.
  public func checkpoint<Value: Decodable>(as type: Value.Type) throws -> Value {
    guard let last = checkpoints.last else { throw TestHostError.nothingThere("the run wrote no checkpoint") }
    return try TestJSON.decode(type, from: last)
  }
}
