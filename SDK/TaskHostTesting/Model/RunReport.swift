public import TaskHostSDK

/// What a run did: everything the host was told, and how it ended. Times are on the virtual clock.
public struct RunReport: Sendable {
  /// Whose handler ran.
  public let identifier: String
  /// The request it served, the same over all its attempts.
  public let requestID: String
  /// 1 on the first run, one more for each attempt spent.
  public let attempt: Int
  /// What the handler was given.
  public let payload: [UInt8]
  /// When it began, from the test host's beginning.
  public let started: Duration
  /// When it ended, from the test host's beginning; `nil` while it is live.
  public internal(set) var ended: Duration?
  /// How it ended; `nil` while it is live.
  public internal(set) var ending: RunEnding?
  /// Why it was asked to stop; `none` while it was not.
  public internal(set) var stopReason = StopReason.none
  /// When it was asked to stop, from its beginning; `nil` while it was not.
  public internal(set) var expiredAfter: Duration?
  /// Why it failed or retries, as it says itself; or what was wrong with what it returned.
  public internal(set) var message: String?
  /// The output it set last.
  public internal(set) var output: [UInt8]?
  /// Every report of progress.
  public internal(set) var progress: [RunProgress] = []
  /// Every line it logged; none are dropped, however many they are.
  public internal(set) var log: [LogLine] = []
  /// Every checkpoint it wrote, the deletions not counted.
  public internal(set) var checkpoints: [[UInt8]] = []
  /// How often it wrote or deleted values of its state.
  public internal(set) var stateWrites = 0
  /// The requests it submitted, as they were asked for, in order.
  public internal(set) var submissions: [SubmittedRequest] = []
  /// The ids of the requests it cancelled, by `cancel` or through the extension.
  public internal(set) var cancellations: [String] = []
  /// The interruptions that were planned for it and had not come when it ended: a test that means one to come should expect none here.
  public internal(set) var missedInterruptions: [Interruption] = []

  /// What the handler returned, with the delay it asked for; `nil` if it did not return, or not yet.
  public var result: TaskResult? {
    guard case .returned(let result) = ending else { return nil }
    return result
  }

  /// The outcome that the host records; `nil` while the run is live.
  public internal(set) var outcome: RunOutcome?

  /// Whether it was asked to stop before it ended.
  public var isExpired: Bool { stopReason != .none }

  /// How long it took on the virtual clock; `nil` while it is live.
  public var duration: Duration? { ended.map { $0 - started } }

  /// The output, decoded from JSON as payloads are.
  ///
  /// - Throws: `DecodingError`; ``TestHostError`` when there is no output.
  public func output<Value: Decodable>(as type: Value.Type) throws -> Value {
    guard let output else { throw TestHostError.nothingThere("the run set no output") }
    return try TestJSON.decode(type, from: output)
  }

  /// The last checkpoint it wrote, decoded from JSON.
  ///
  /// - Throws: `DecodingError`; ``TestHostError`` when it wrote none.
  public func checkpoint<Value: Decodable>(as type: Value.Type) throws -> Value {
    guard let last = checkpoints.last else { throw TestHostError.nothingThere("the run wrote no checkpoint") }
    return try TestJSON.decode(type, from: last)
  }
}
