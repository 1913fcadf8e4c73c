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
  /// Whether its deadline has passed while it waited: only what ``LaneGates/relaxed`` leaves counts.
  public var isRelaxed: Bool
  /// When it is due because of an event that came while it ran; nil: none came.
  public var eventDue: WallTime?
  /// When the first of the events came that its present wait for quiet merges; nil: none has.
  public var eventSince: WallTime?
  /// Of ``MissedPolicy/all(limit:spread:)``: how many missed occurrences are still to run.
  public var missedLeft: Int

  /// A record as given.
  public init(
    id: RequestID, request: TaskRequest, state: RequestState, due: WallTime, occurrence: WallTime? = nil, submitted: WallTime,
    attemptsSpent: Int = 0, losses: Int = 0, stopRequested: StopReason? = nil, blockedBy: RequestID? = nil, run: RunID? = nil,
    started: WallTime? = nil, ended: WallTime? = nil, lastOutcome: RunOutcome? = nil, lastMessage: String? = nil, isRelaxed: Bool = false,
    eventDue: WallTime? = nil, eventSince: WallTime? = nil, missedLeft: Int = 0
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
    self.isRelaxed = isRelaxed
    self.eventDue = eventDue
    self.eventSince = eventSince
    self.missedLeft = missedLeft
  }

  /// The number of its next or present run: 1 for the first, one more for each attempt spent.
  public var attempt: Int { attemptsSpent.adding(saturating: 1) }

  /// What holds it now besides its time.
  public var gates: LaneGates { isRelaxed ? request.gates.relaxed : request.gates }

  /// Where it waits.
  public var lane: Lane { Lane(request.identifier, gates) }

  /// Whether it has occurrences to come.
  public var isRepeating: Bool { request.repetition != nil }
}
