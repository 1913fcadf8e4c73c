public import TaskModel

extension WallTime {
  /// Where the tests' calendar begins: 2026-01-01T00:00:00Z.
  public static let testStart = WallTime(unixMilliseconds: 1_767_225_600_000)

  /// So many milliseconds after the tests' calendar begins.
  public static func ms(_ milliseconds: Int64) -> WallTime { WallTime(unixMilliseconds: testStart.unixMilliseconds + milliseconds) }
}

extension TaskIdentifier {
  /// An identifier that the test knows to be one.
  ///
  /// - Parameter text: Checked; a wrong one becomes `wrong.identifier`, which no test uses otherwise.
  public static func sample(_ text: String = "org.example.task") -> TaskIdentifier {
    for candidate in [text, "wrong.identifier"] { if let identifier = try? TaskIdentifier(candidate) { return identifier } }
    preconditionFailure("wrong.identifier is an identifier")
  }
}

extension RequestRecord {
  /// A pending request that is due at `due`.
  public static func sample(
    _ sequence: Int64, origin: UInt64, identifier: TaskIdentifier = .sample(), state: RequestState = .pending, due: WallTime = .testStart,
    priority: Int = 0, key: String? = nil, payload: [UInt8] = [], tags: [String] = [], every: Duration? = nil, blockedBy: RequestID? = nil
  ) -> RequestRecord {
    RequestRecord(
      id: RequestID(sequence: sequence, origin: origin),
      request: TaskRequest(
        identifier: identifier, payload: payload, priority: priority, uniqueKey: key, onConflict: key == nil ? .none : .keep,
        retry: RetryPolicy(), repetition: every.map { RepeatRule(every: $0) }, tags: tags),
      state: state, due: due, occurrence: every == nil ? nil : due, submitted: .testStart, blockedBy: blockedBy)
  }
}

extension RequestRecord {
  /// Puts it into a state, whatever leads there: only transitions change the state of a record, so this makes another one.
  public mutating func place(in state: RequestState) {
    self = RequestRecord(
      id: id, request: request, state: state, due: due, occurrence: occurrence, submitted: submitted, attemptsSpent: attemptsSpent,
      losses: losses, stopRequested: stopRequested, blockedBy: blockedBy, run: run, started: started, ended: ended,
      lastOutcome: lastOutcome, lastMessage: lastMessage, isRelaxed: isRelaxed, eventDue: eventDue, eventSince: eventSince,
      missedLeft: missedLeft)
  }
}

// The changes of the dispatch path, for tests that do not look at them.
extension StoreTransaction {
  /// Claims a pending request.
  public func claim(_ id: RequestID, run: RunID) throws { try apply(.claimed(by: run), to: id) }

  /// Starts a run of a pending request, or of one that is claimed.
  public func start(_ id: RequestID, run: RunID, at now: WallTime) throws {
    let isClaimed = try request(id)?.state == .claimed
    try apply(.started(run, from: isClaimed ? .claimed : .pending, at: now), to: id)
  }

  /// Ends a run with success.
  public func succeed(_ id: RequestID, run: RunID, began: WallTime?, outcome: RunOutcome, message: String?, at now: WallTime) throws {
    try apply(.ended(run, outcome, message: message, began: began, at: now), to: id)
  }
}
