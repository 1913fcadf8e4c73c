/// A task request as the store knows it.
public struct RequestRecord: Sendable, Hashable {
  /// Its id.
  public var id: RequestID
  /// The submitted request with the retry policy that applies. `payload` is empty in listings that omit it.
  public var request: TaskRequest
  /// Its state. Only ``apply(_:guards:)`` and ``apply(_:)`` change it.
  public internal(set) var state: RequestState
  /// When it is due, or was.
  public var due: WallTime
  /// For a repeating request: the scheduled time of the current occurrence.
  public var occurrence: WallTime?
  /// When it was submitted.
  public var submitted: WallTime
  /// Attempts spent.
  public var attemptsSpent: Int
  /// Losses in a row.
  public var losses: Int
  /// Set while its run is asked to stop because the request was cancelled or replaced.
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
  /// Whether its deadline passed while it waited: only ``RunConstraints/relaxed`` applies now.
  public var isRelaxed: Bool
  /// When it is due because of an event that arrived during its run; nil if none did.
  public var eventDue: WallTime?
  /// When the first event of the burst arrived that its current debounce merges; nil if none has.
  public var eventSince: WallTime?
  /// For ``MissedPolicy/all(limit:spread:)``: the number of missed occurrences still to run.
  public var missedLeft: Int

  /// Creates a record.
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

  /// The number of its next or current run: 1 for the first, plus one for each attempt spent.
  public var attempt: Int { attemptsSpent.adding(saturating: 1) }

  /// What it waits for now besides its time.
  public var gates: RunConstraints { isRelaxed ? request.gates.relaxed : request.gates }

  /// The lane it waits in.
  public var lane: Lane { Lane(request.identifier, gates) }

  /// Whether it repeats.
  public var isRepeating: Bool { request.repetition != nil }
}
