/// Keeps requests, runs and plugin state durably.
///
/// Writing is for one thread at a time: the scheduler's. Reading is for any thread and sees what was committed.
public protocol RequestStore: Sendable {
  /// The 62 bits that all ids of this store share.
  var origin: UInt64 { get }

  /// Runs `body` and commits what it did, durably, before returning; when it throws, nothing of it is kept.
  /// Blocks the calling thread, which must be the one that writes.
  func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value

  /// The requests that match.
  func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord]
  /// A request with its payload; nil if there is none.
  func request(_ id: RequestID) throws(StoreError) -> RequestRecord?
  /// The requests of these identifiers that wait for their run, without those of a `schedule`, the oldest first; those after `request`, or
  /// with nil from the first on.
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage
  /// The runs that match and have ended, newest first, without output, log and trouble.
  func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord]
  /// A run that has ended, whole; nil if there is none.
  func run(_ id: RunID) throws(StoreError) -> RunRecord?
  /// What a request waits or waited for, in the order in which it was added.
  func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord]
  /// What is remembered of schedules, in the order of identifiers and keys: those that fail first come in, then at most `limit` in all; and
  /// the live requests that repeat, those included that never ran.
  func schedules(limit: Int) throws(StoreError) -> [ScheduleRecord]
  /// The pending requests that have been due longest, one for each identifier and lane of those that were due by `time`.
  func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord]
  /// The last run of each identifier that has ended, without output, log and trouble.
  func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord]
  /// The requests that failed for good, in the order of identifiers.
  func deadLetters() throws(StoreError) -> [DeadLetters]
  /// Ends the store: nothing is read or written any more. What is durable is in one file then.
  func close()
  /// How many requests are in each state.
  func counts() throws(StoreError) -> [RequestState: Int]
  /// The value that an identifier's handlers keep under `key`; nil if there is none.
  func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]?
  /// Where an earlier run of the request left off; nil: nowhere.
  func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]?
  /// The highest sequence of any id in use; 0: none is.
  func highestSequence() throws(StoreError) -> Int64
}

/// Which requests a listing shows.
public struct RequestQuery: Sendable, Hashable {
  /// Only those of this identifier.
  public var identifier: TaskIdentifier?
  /// Only those in one of these states; empty: all.
  public var states: [RequestState] = []
  /// Only those with this tag.
  public var tag: String?
  /// Only those with a smaller id: what comes after it in the listing; not together with ``dueBy``.
  public var after: RequestID?
  /// Only those that are due by then, the one first that is due first; nil: all, the newest first.
  public var dueBy: WallTime?
  /// Only those that are live and wait for events, again and again or once.
  public var waitsForEvent = false
  /// At most so many; 1 or more.
  public var limit = 100

  /// All, up to 100.
  public init() {}

  /// Whether a request is one of those that are asked for, but for the limit.
  public func matches(_ record: RequestRecord) -> Bool {
    if let identifier, identifier != record.request.identifier { return false }
    if !states.isEmpty, !states.contains(record.state) { return false }
    if let dueBy, record.due > dueBy { return false }
    if let after, record.id >= after { return false }
    if waitsForEvent, record.request.event == nil || record.state.isFinal { return false }
    guard let tag else { return true }
    return record.request.tags.contains { $0.utf8.elementsEqual(tag.utf8) }
  }
}

/// Which runs a listing shows.
public struct RunQuery: Sendable, Hashable {
  /// Only those of this identifier.
  public var identifier: TaskIdentifier?
  /// Only those of this request.
  public var request: RequestID?
  /// Only those that ended in one of these ways; empty: all.
  public var outcomes: [RunOutcome] = []
  /// Only those that started then or later.
  public var since: WallTime?
  /// Only those that started before then.
  public var until: WallTime?
  /// Only those with a smaller id: what comes after it in the listing.
  public var after: RunID?
  /// At most so many; 1 or more.
  public var limit = 100

  /// All, up to 100.
  public init() {}

  /// Whether a run is one of those that are asked for, but for the limit.
  public func matches(_ run: RunRecord) -> Bool {
    if let identifier, identifier != run.identifier { return false }
    if let request, request != run.request { return false }
    if !outcomes.isEmpty, !(run.outcome.map { outcomes.contains($0) } ?? false) { return false }
    if let since, run.started < since { return false }
    if let until, run.started >= until { return false }
    if let after, run.id >= after { return false }
    return true
  }
}

/// What a request that is due offers to the scheduler's choice.
public struct DueRequest: Sendable, Hashable {
  /// The request.
  public var id: RequestID
  /// When it became due.
  public var due: WallTime
  /// −10 … 10.
  public var priority: Int
  /// Attempts spent.
  public var attemptsSpent: Int
  /// Whether it has occurrences to come.
  public var isRepeating: Bool

  /// An offer as given.
  public init(id: RequestID, due: WallTime, priority: Int, attemptsSpent: Int, isRepeating: Bool) {
    self.id = id
    self.due = due
    self.priority = priority
    self.attemptsSpent = attemptsSpent
    self.isRepeating = isRepeating
  }

  /// Orders due requests: oldest first, a step of priority counting as a head start of 5 minutes. So a high priority goes first among
  /// those of the same age, and a low one is overtaken only for so long (linear ageing).
  public var rank: Int64 { due.unixMilliseconds.subtracting(saturating: Int64(priority).multiplied(saturatingBy: 300_000)) }
}

/// The work of one commit. Valid inside ``RequestStore/commit(_:)`` only.
public protocol StoreTransaction {
  /// Runs `body` so that, when it throws, only what it did is undone.
  func savepoint<Value>(_ body: () throws -> Value) throws -> Value

  // MARK: Requests

  /// Adds a request.
  func insert(_ record: RequestRecord) throws
  /// Writes what of a request changes as it lives: its state, times and lane, its unique key, and what is recorded of its runs.
  func update(_ record: RequestRecord) throws
  /// Writes all of a request, what was submitted with it included, and its payload.
  func rewrite(_ record: RequestRecord) throws
  /// A request, without its payload; nil if there is none.
  func request(_ id: RequestID) throws -> RequestRecord?
  /// What its next run is given: the payload of the event it waited for, if that had one, else what was submitted.
  func payload(of id: RequestID) throws -> [UInt8]
  /// What was submitted, whatever an event brought; with the outputs of its predecessors once it does not wait for them any more.
  func submittedPayload(of id: RequestID) throws -> [UInt8]
  /// Writes the payload that came with an event; nil: what was submitted counts again.
  func setEventPayload(_ payload: [UInt8]?, of id: RequestID) throws
  /// The live request of `identifier` that holds `key`.
  func holder(of key: String, identifier: TaskIdentifier) throws -> RequestRecord?
  /// How many requests of `identifier` are live.
  func liveCount(of identifier: TaskIdentifier) throws -> Int
  /// The lanes in which requests are pending, those that wait for an event included.
  func lanesWithPending() throws -> [Lane]
  /// The pending requests of a lane that were due by `now`, best rank first.
  func due(in lane: Lane, by now: WallTime, limit: Int) throws -> [DueRequest]
  /// When the next pending request of a lane is due; nil: none is, or all wait for an event.
  func nextDue(in lane: Lane) throws -> WallTime?
  /// The requests that are recorded as running.
  func running() throws -> [RequestRecord]
  /// The requests that are recorded as handed out ahead.
  func claimed() throws -> [RequestRecord]
  /// The live requests of all identifiers whose unique key begins with `prefix`.
  func holders(ofKeysBeginningWith prefix: String) throws -> [RequestRecord]
  /// The requests of `identifier` that wait for their run, pending, claimed and blocked ones, the oldest first.
  func waiting(of identifier: TaskIdentifier) throws -> [RequestRecord]
  /// The live requests with that tag, of one identifier or with nil of all; those after `request` in the order of their ids, at most
  /// `limit`.
  func live(tagged tag: String, identifier: TaskIdentifier?, after request: RequestID?, limit: Int) throws -> [RequestID]
  /// The dead letters of one identifier, or with nil of all, the oldest request first.
  func failed(of identifier: TaskIdentifier?) throws -> [RequestID]
  /// The pending request of `identifier` that is due first; of those that wait for events, any.
  func firstPending(of identifier: TaskIdentifier) throws -> RequestRecord?

  // MARK: Deadlines

  /// Pending requests whose deadline has passed by `now` and that are not relaxed, at most `limit`.
  func pastDeadline(by now: WallTime, limit: Int) throws -> [RequestRecord]
  /// The first deadline of a pending request that is not relaxed; nil: there is none.
  func nextDeadline() throws -> WallTime?

  // MARK: Graphs

  /// Adds what a request waits for. An edge from a predecessor that it has one from already takes that one's place; when all of a request's
  /// edges are added again, their order stays.
  func insert(_ edges: [DependencyRecord], of id: RequestID) throws
  /// The requests that others wait for.
  func awaitedPredecessors() throws -> Set<RequestID>
  /// What a request waits or waited for, in the order in which it was added.
  func edges(of id: RequestID) throws -> [DependencyRecord]
  /// The requests that wait for `predecessor`, or ended while they did, in the order of their ids.
  func dependants(of predecessor: RequestID) throws -> [RequestID]
  /// The requests whose edge from `predecessor` says that it has failed, in the order of their ids.
  func failedDependants(of predecessor: RequestID) throws -> [RequestID]
  /// What the last of a request's runs that has ended gave out; nil: the history does not have one.
  func output(of id: RequestID) throws -> [UInt8]?
  /// Records how a predecessor ended, and what it gave out, in the edges that wait for it.
  ///
  /// - Returns: The dependants.
  func settleEdges(from predecessor: RequestID, ended: RequestState, output: [UInt8]) throws -> [RequestID]

  // MARK: Keys

  /// The answer to the submission with that idempotency key; nil: there was none.
  func submission(withKey key: String) throws -> KnownSubmission?
  /// Remembers the answer to a submission.
  func remember(_ submission: KnownSubmission, key: String) throws
  /// The request that holds a unique key for a time beyond its own end; nil: none does at `now`.
  func windowHolder(of key: String, identifier: TaskIdentifier, now: WallTime) throws -> RequestID?
  /// Holds a unique key for a request until a time, whatever becomes of the request.
  func hold(_ key: String, identifier: TaskIdentifier, for id: RequestID, until time: WallTime) throws

  // MARK: Events

  /// The live requests that wait for an event.
  func waiting(forEvent name: String) throws -> [RequestRecord]
  /// The names of the events that live requests wait for.
  func awaitedEvents() throws -> [String]

  // MARK: Clocks

  /// What the wall clock and the boot clock were to each other when that was last recorded; nil: it never was.
  func clockReference() throws -> ClockReference?
  /// Records what they are to each other.
  func setClockReference(_ reference: ClockReference) throws
  /// Moves the times of the live requests that follow the boot clock; those that wait for an event stay.
  func shiftBootTimes(by distance: Duration) throws
  /// The pending requests that repeat by the calendar.
  func pendingByCalendar() throws -> [RequestRecord]

  // MARK: Runs: the dispatch path

  /// Records that a pending request is handed out ahead of `run`'s begin; everything else of the request stays.
  func claim(_ id: RequestID, run: RunID) throws
  /// Records that a run begins of a request that is pending, or claimed for that run; everything else of the request stays.
  func start(_ id: RequestID, run: RunID, at now: WallTime) throws
  /// Records that a request that does not repeat succeeded with `run`: what ``update(_:)`` would do, for the common case. Throws
  /// ``StoreError/fenced`` when `run` is not its present run.
  ///
  /// - Parameter began: When the run began, where that is not recorded: the request is claimed. Nil: it is running.
  func succeed(_ id: RequestID, run: RunID, began: WallTime?, outcome: RunOutcome, message: String?, at now: WallTime) throws
  /// Adds a run that has ended to the history.
  func append(_ run: RunRecord) throws
  /// The request that `run` is the present run of; throws ``StoreError/fenced`` when there is none.
  func requestRunning(as run: RunID, of request: RequestID) throws -> RequestRecord

  // MARK: What plugins keep

  /// Writes a value of an identifier's state; nil deletes. Throws ``StoreError/limit(_:)``.
  func setState(_ key: String, to value: [UInt8]?, of identifier: TaskIdentifier) throws
  /// Writes where a request's run is; nil: nowhere yet.
  func setCheckpoint(_ value: [UInt8]?, of request: RequestID) throws

  // MARK: Plugins

  /// The standing of every identifier that has one.
  func standings() throws -> [TaskIdentifier: Standing]
  /// Writes an identifier's standing; nil: it has done nothing wrong.
  func setStanding(_ standing: Standing?, of identifier: TaskIdentifier) throws

  // MARK: Housekeeping

  /// Removes runs that ended before `horizon` or exceed `count`, and requests that succeeded or were cancelled and have no run left; looks
  /// at `limit` rows of each at most. What failed for good stays, and so do the last run and the last success of each schedule
  /// (``ScheduleRecord``), which are not counted once they are older than the others.
  ///
  /// - Returns: Whether there is more to remove.
  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool
  /// Forgets lanes in which nobody waits, when there may be many; looks at `limit` of them at most.
  ///
  /// - Returns: Whether there are more to look at.
  func pruneLanes(limit: Int) throws -> Bool
}

/// What a submission with an idempotency key was, and how it was answered.
public struct KnownSubmission: Sendable, Hashable {
  /// Tells whether another submission with the key is the same.
  public var fingerprint: UInt64
  /// The request that stood for it.
  public var request: RequestID
  /// What was done.
  public var disposition: Disposition
  /// When.
  public var submitted: WallTime

  /// A submission as given.
  public init(fingerprint: UInt64, request: RequestID, disposition: Disposition, submitted: WallTime) {
    self.fingerprint = fingerprint
    self.request = request
    self.disposition = disposition
    self.submitted = submitted
  }
}

/// What the wall clock is to the boot clock, in one boot of the machine.
public struct ClockReference: Sendable, Hashable {
  /// Which boot.
  public var boot: String
  /// Wall clock minus boot clock, in milliseconds.
  public var offset: Int64

  /// A reference as given.
  public init(boot: String, offset: Int64) {
    self.boot = boot
    self.offset = offset
  }
}
