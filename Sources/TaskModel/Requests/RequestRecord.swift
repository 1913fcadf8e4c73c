/// A task request in the store.
public struct RequestRecord: Sendable, Hashable {
  /// The id of the request.
  public var id: RequestID
  /// The submitted request, with the retry policy that applies. `payload` is empty in listings that omit it.
  @Shared public var request: TaskRequest
  /// The state of the request. Only ``apply(_:guards:)`` and ``apply(_:)`` change it.
  public internal(set) var state: RequestState
  /// When the request is due, or was.
  public var due: WallTime
  /// For a repeating request: the scheduled time of the current occurrence.
  public var occurrence: WallTime?
  /// When the request was submitted.
  public var submitted: WallTime
  /// Attempts spent.
  public var attemptsSpent: Int
  /// Consecutive losses.
  public var losses: Int
  /// Why the run is being stopped, while it is asked to stop because the request was cancelled or replaced.
  public var stopRequested: StopReason?
  /// The request that this one waits for, while blocked.
  public var blockedBy: RequestID?
  /// The request's run, while claimed or running.
  public var run: RunID?
  /// When the last run started.
  public var started: WallTime?
  /// When the last run ended.
  public var ended: WallTime?
  /// The outcome of the last run.
  public var lastOutcome: RunOutcome?
  /// The message of the last run.
  public var lastMessage: String?
  /// Whether the deadline passed while the request waited: only ``RunConstraints/relaxed`` applies now.
  public var isRelaxed: Bool
  /// When the request is due because of an event that arrived during its run; nil if none did.
  public var eventDue: WallTime?
  /// When the first event of the burst arrived that the current debounce merges; nil if none has.
  public var eventSince: WallTime?
  /// For ``MissedPolicy/all(limit:spread:)``: the number of missed occurrences still to run.
  public var missedLeft: Int
  /// Who holds the request back, since when and why; nil if nobody does. An ended request is not paused, whatever this says.
  public var paused: RequestPause?
  /// The pause that was found to hold the request when it was due, so that it is not looked at again while that lasts; nil if none was.
  public var setAside: PauseID?

  /// Creates a record.
  public init(
    id: RequestID, request: TaskRequest, state: RequestState, due: WallTime, occurrence: WallTime? = nil, submitted: WallTime,
    attemptsSpent: Int = 0, losses: Int = 0, stopRequested: StopReason? = nil, blockedBy: RequestID? = nil, run: RunID? = nil,
    started: WallTime? = nil, ended: WallTime? = nil, lastOutcome: RunOutcome? = nil, lastMessage: String? = nil, isRelaxed: Bool = false,
    eventDue: WallTime? = nil, eventSince: WallTime? = nil, missedLeft: Int = 0, paused: RequestPause? = nil,
    setAside: PauseID? = nil
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
    self.paused = paused
    self.setAside = setAside
  }

  /// The number of the next or current run: 1 for the first, plus one for each attempt spent. Once the request has ended, the number of its
  /// last run; 1 if it never ran.
  public var attempt: Int {
    // The last run of an ended request is among the attempts spent if it spent one.
    state.isFinal && attemptsSpent > 0 && lastOutcome?.spendsAttempt == true ? attemptsSpent : attemptsSpent.adding(saturating: 1)
  }

  /// Whether it waits because its last run has spent an attempt and another one is left. One that repeats and has none left waits for its next
  /// occurrence.
  package var isInBackoff: Bool { state == .pending && attemptsSpent > 0 && lastOutcome?.spendsAttempt == true }

  /// What the request waits for now besides its time.
  public var gates: RunConstraints {
    guard isRelaxed || paused != nil || setAside != nil else { return request.gates }
    var gates = isRelaxed ? request.gates.relaxed : request.gates
    gates.isPaused = paused != nil
    gates.pause = setAside
    return gates
  }

  /// The lane of the request.
  public var lane: Lane { Lane(request.identifier, gates) }

  /// Whether the request repeats.
  public var isRepeating: Bool { request.repetition != nil }
}
