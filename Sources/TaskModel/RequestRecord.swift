/// A task request as the store knows it.
public struct RequestRecord: Sendable, Hashable {
  /// Its id.
  public var id: RequestID
  /// What was submitted, with the retry policy that applies. `payload` is empty where a listing leaves it out.
  public var request: TaskRequest
  /// Its state.
  public var state: RequestState
  /// When it is due, or was.
  public var due: WallTime
  /// For a repeating request: the schedule's time of the present occurrence.
  public var occurrence: WallTime?
  /// When it was submitted.
  public var submitted: WallTime
  /// Attempts spent.
  public var attemptsSpent: Int
  /// Losses in a row.
  public var losses: Int
  /// Set while a run of it is asked to stop because it was cancelled or replaced.
  public var stopRequested: StopReason?
  /// The request it waits for, while blocked.
  public var blockedBy: RequestID?
  /// Its run, while running.
  public var run: RunID?
  /// When that run started.
  public var started: WallTime?
  /// When it ended.
  public var ended: WallTime?
  /// The outcome of its last run.
  public var lastOutcome: RunOutcome?
  /// The message of its last run.
  public var lastMessage: String?

  /// A record as given.
  public init(
    id: RequestID, request: TaskRequest, state: RequestState, due: WallTime, occurrence: WallTime? = nil, submitted: WallTime,
    attemptsSpent: Int = 0, losses: Int = 0, stopRequested: StopReason? = nil, blockedBy: RequestID? = nil, run: RunID? = nil,
    started: WallTime? = nil, ended: WallTime? = nil, lastOutcome: RunOutcome? = nil, lastMessage: String? = nil
  ) {
    self.id = id
    self.request = request
    self.state = state
    self.due = due
    self.occurrence = occurrence
    self.submitted = submitted
    self.attemptsSpent = attemptsSpent
    self.losses = losses
    self.stopRequested = stopRequested
    self.blockedBy = blockedBy
    self.run = run
    self.started = started
    self.ended = ended
    self.lastOutcome = lastOutcome
    self.lastMessage = lastMessage
  }

  /// The number of its next or present run: 1 for the first, one more for each attempt spent.
  public var attempt: Int { attemptsSpent + 1 }

  /// Whether it has occurrences to come.
  public var isRepeating: Bool { request.repetition != nil }
}
