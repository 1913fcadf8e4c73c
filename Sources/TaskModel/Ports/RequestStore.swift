/// Has requests and runs, which any thread may read. Blocks.
public protocol RecordReading: Sendable {
  /// The matching requests.
  func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord]
  /// A request with its payload; nil if it does not exist.
  func request(_ id: RequestID) throws(StoreError) -> RequestRecord?
  /// The matching runs that have ended, newest first, without output, log and trouble.
  func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord]
  /// A run that has ended, with all fields; nil if there is none.
  func run(_ id: RunID) throws(StoreError) -> RunRecord?
}

/// Stores requests, runs and plugin state durably.
///
/// Only the scheduler's thread writes. Any thread may read and sees committed data.
public protocol RequestStore: RecordReading {
  /// The 62 bits that all ids of this store share.
  var origin: UInt64 { get }

  /// Runs `body` and commits its changes durably before returning. If `body` throws, none of its changes are kept. Blocks the calling
  /// thread, which must be the writing thread.
  func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value

  /// The requests that ``RequestScan/covers(_:)`` and `accepts` hold for. Looks at a bounded number of requests.
  ///
  /// - Parameter accepts: Gets records with their payload if the scan says so. Must not use the store.
  func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests
  /// The waiting requests of these identifiers without those of a `schedule`, oldest first, starting after `request` (nil: from the first).
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage
  /// The dependencies of a request, in the order in which they were added.
  func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord]
  /// At most `limit` schedule records, failing schedules preferred, ordered by identifier and key. Includes live repeating requests that
  /// never ran, unless only those with failures are wanted.
  func schedules(limit: Int, onlyFailing: Bool) throws(StoreError) -> [ScheduleRecord]
  /// What all schedules of each identifier have come to.
  func scheduleSums() throws(StoreError) -> [TaskIdentifier: ScheduleSum]
  /// For each identifier and lane, the longest overdue of the pending requests that were due by `time`.
  func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord]
  /// The last ended run of each identifier, without output, log and trouble.
  func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord]
  /// The dead letters of each identifier, ordered by identifier.
  func deadLetters() throws(StoreError) -> [DeadLetters]
  /// Closes the store. Afterwards all durable data is in one file.
  func close()
  /// The number of requests in each state.
  func counts() throws(StoreError) -> [RequestState: Int]
  /// The value that an identifier's handlers stored under `key`; nil if there is none.
  func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]?
  /// The checkpoint of an earlier run of the request; nil if there is none.
  func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]?
  /// Frees memory that serves only as a cache. Does not wait for readers.
  func giveBackMemory()
  /// The highest sequence of any id in use; 0 if none is.
  func highestSequence() throws(StoreError) -> Int64
}

/// Selects the requests of a listing.
public struct RequestQuery: Sendable, Hashable {
  /// Only those of this identifier.
  public var identifier: TaskIdentifier?
  /// Only those in one of these states; empty: all.
  public var states: [RequestState] = []
  /// Only those with this tag.
  public var tag: String?
  /// Only those with a smaller id, which follow it in the listing. Not together with ``dueBy``.
  public var after: RequestID?
  /// Only those due by this time, ordered by due time; nil means all, newest first.
  public var dueBy: WallTime?
  /// Only live requests that wait for events, once or repeatedly.
  public var waitsForEvent = false
  /// The maximum number of results, from 1.
  public var limit = 100

  /// Selects all requests, up to 100.
  public init() {}

  /// Whether a request matches, apart from the limit.
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

/// Selects the runs of a listing.
public struct RunQuery: Sendable, Hashable {
  /// Only those of this identifier.
  public var identifier: TaskIdentifier?
  /// Only those of an identifier that one of these covers; empty: all.
  public var identifiers: [IdentifierPattern] = []
  /// Only those whose id begins so.
  public var id: RecordIDPrefix?
  /// Only those of this request.
  public var request: RequestID?
  /// Only those that ended in one of these ways; empty: all.
  public var outcomes: [RunOutcome] = []
  /// Only those that started at this time or later.
  public var since: WallTime?
  /// Only those that started before this time.
  public var until: WallTime?
  /// Only those with a smaller id, which follow it in the listing.
  public var after: RunID?
  /// The maximum number of results, from 1.
  public var limit = 100

  /// Selects all runs, up to 100.
  public init() {}

  /// Whether a run matches, apart from the limit.
  public func matches(_ run: RunRecord) -> Bool {
    if let identifier, identifier != run.identifier { return false }
    if !identifiers.isEmpty, !identifiers.contains(where: { $0.matches(run.identifier) }) { return false }
    if let id, !id.matches(run.id) { return false }
    if let request, request != run.request { return false }
    if !outcomes.isEmpty, !(run.outcome.map { outcomes.contains($0) } ?? false) { return false }
    if let since, run.started < since { return false }
    if let until, run.started >= until { return false }
    if let after, run.id >= after { return false }
    return true
  }
}

/// A due request, with what the scheduler needs to choose among them.
public struct DueRequest: Sendable, Hashable {
  /// The request.
  public var id: RequestID
  /// When it became due.
  public var due: WallTime
  /// −10 … 10.
  public var priority: Int
  /// Attempts spent.
  public var attemptsSpent: Int
  /// Whether it repeats.
  public var isRepeating: Bool

  /// Creates a due request.
  public init(id: RequestID, due: WallTime, priority: Int, attemptsSpent: Int, isRepeating: Bool) {
    self.id = id
    self.due = due
    self.priority = priority
    self.attemptsSpent = attemptsSpent
    self.isRepeating = isRepeating
  }

  /// The key that orders due requests: oldest first, with a head start of 5 minutes for each step of priority. Among requests of the same
  /// age, the highest priority goes first, and others overtake a low priority only for a limited time (linear ageing).
  public var rank: Int64 { due.unixMilliseconds.subtracting(saturating: Int64(priority).multiplied(saturatingBy: 300_000)) }

  /// The first `limit` due requests of a lane by rank.
  ///
  /// - Parameter offers: Lists joined together, each with one priority and sorted by due time.
  public static func best(of offers: [DueRequest], limit: Int) -> [DueRequest] {
    guard offers.contains(where: { $0.priority != offers[0].priority }) else { return offers }
    return Array(offers.sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }.prefix(max(0, limit)))
  }
}

/// The operations of one commit. Valid only inside ``RequestStore/commit(_:)``.
public protocol StoreTransaction {
  /// Runs `body`. If it throws, only its changes are undone.
  func savepoint<Value>(_ body: () throws -> Value) throws -> Value

  // MARK: Requests

  /// Adds a request.
  func insert(_ record: RequestRecord) throws
  /// Writes the mutable fields of a request: its state, times, lane, unique key, and the fields about its runs.
  func update(_ record: RequestRecord) throws
  /// Writes all fields of a request, including those of the submission and the payload.
  func rewrite(_ record: RequestRecord) throws
  /// A request without its payload; nil if it does not exist.
  func request(_ id: RequestID) throws -> RequestRecord?
  /// What the request's next run gets.
  func input(of id: RequestID) throws -> RunInput
  /// The submitted payload, regardless of events. Includes the outputs of the request's predecessors once it no longer waits for them.
  func submittedPayload(of id: RequestID) throws -> [UInt8]
  /// Writes the payload of an event; nil restores the submitted one.
  func setEventPayload(_ payload: [UInt8]?, of id: RequestID) throws
  /// The live request of `identifier` that holds `key`.
  func holder(of key: String, identifier: TaskIdentifier) throws -> RequestRecord?
  /// The number of live requests of `identifier`.
  func liveCount(of identifier: TaskIdentifier) throws -> Int
  /// The lanes with pending requests, including requests that wait for an event.
  func lanesWithPending() throws -> [Lane]
  /// The pending requests of a lane that were due by `now`, in the order of their rank.
  func due(in lane: Lane, by now: WallTime, limit: Int) throws -> [DueRequest]
  /// When the next pending request of a lane is due; nil if there is none, or all wait for an event.
  func nextDue(in lane: Lane) throws -> WallTime?
  /// The requests in state `running`.
  func running() throws -> [RequestRecord]
  /// The requests in state `claimed`.
  func claimed() throws -> [RequestRecord]
  /// The live requests of all identifiers whose unique key begins with `prefix`.
  func holders(ofKeysBeginningWith prefix: String) throws -> [RequestRecord]
  /// The pending, claimed and blocked requests of `identifier`, oldest first.
  func waiting(of identifier: TaskIdentifier) throws -> [RequestRecord]
  /// The live requests with a tag, of one identifier or of all (nil), ordered by id, starting after `request`, at most `limit`.
  func live(tagged tag: String, identifier: TaskIdentifier?, after request: RequestID?, limit: Int) throws -> [RequestID]
  /// The dead letters of one identifier, or of all (nil), oldest first.
  func failed(of identifier: TaskIdentifier?) throws -> [RequestID]
  /// The pending request of `identifier` that is due first; any pending request if all wait for events.
  func firstPending(of identifier: TaskIdentifier) throws -> RequestRecord?

  // MARK: Deadlines

  /// At most `limit` pending requests whose deadline has passed by `now` and that are not relaxed.
  func pastDeadline(by now: WallTime, limit: Int) throws -> [RequestRecord]
  /// The first deadline of a pending request that is not relaxed; nil if there is none.
  func nextDeadline() throws -> WallTime?

  // MARK: Graphs

  /// Adds dependencies of a request. An edge replaces an existing edge from the same predecessor. Adding all edges again keeps their order.
  func insert(_ edges: [DependencyRecord], of id: RequestID) throws
  /// The requests that other requests wait for.
  func awaitedPredecessors() throws -> Set<RequestID>
  /// The dependencies of a request, in the order in which they were added.
  func edges(of id: RequestID) throws -> [DependencyRecord]
  /// The requests that wait for `predecessor`, or ended while they waited, ordered by id.
  func dependants(of predecessor: RequestID) throws -> [RequestID]
  /// The requests whose edge from `predecessor` records its failure, ordered by id.
  func failedDependants(of predecessor: RequestID) throws -> [RequestID]
  /// The output of a request's last ended run; nil if the history has no such run.
  func output(of id: RequestID) throws -> [UInt8]?
  /// Records a predecessor's final state and output in the edges that wait for it.
  ///
  /// - Returns: The dependants.
  func settleEdges(from predecessor: RequestID, ended: RequestState, output: [UInt8]) throws -> [RequestID]

  // MARK: Keys

  /// The answer to an earlier submission with this idempotency key; nil if there was none. Each plugin has keys of its own, and all clients
  /// together have theirs.
  ///
  /// - Parameter plugin: The plugin that submits; nil: a client.
  func submission(withKey key: String, by plugin: TaskIdentifier?) throws -> KnownSubmission?
  /// Remembers the answer to a submission by a plugin, or by a client (nil).
  func remember(_ submission: KnownSubmission, key: String, by plugin: TaskIdentifier?) throws
  /// The number of a plugin's submissions that are remembered.
  func submissionCount(by plugin: TaskIdentifier) throws -> Int
  /// The request that still holds a unique key after its own end; nil if none does at `now`.
  func windowHolder(of key: String, identifier: TaskIdentifier, now: WallTime) throws -> RequestID?
  /// Holds a unique key for a request until `time`, even if the request ends earlier.
  func hold(_ key: String, identifier: TaskIdentifier, for id: RequestID, until time: WallTime) throws
  /// Forgets the identifier's unique keys whose time is over by `now`, and returns the number of those that are held.
  func windowCount(of identifier: TaskIdentifier, now: WallTime) throws -> Int

  // MARK: Events

  /// The live requests that wait for an event.
  func waiting(forEvent name: String) throws -> [RequestRecord]
  /// The names of the events that live requests wait for.
  func awaitedEvents() throws -> [String]

  // MARK: Clocks

  /// The last recorded relation between wall clock and boot clock; nil if there is none.
  func clockReference() throws -> ClockReference?
  /// Records the relation between the clocks.
  func setClockReference(_ reference: ClockReference) throws
  /// Moves the times of live requests that follow the boot clock, except those that wait for an event.
  func shiftBootTimes(by distance: Duration) throws
  /// Moves when live one-time requests on the calendar's clock are due that have no time of their own, or have run: they wait for a slot, or for
  /// the end of a backoff. Those due by `passed` are not moved forward.
  func shiftWaits(by distance: Duration, passed: WallTime) throws
  /// The pending and running requests that repeat on the calendar's clock.
  func repeatingByCalendar() throws -> [RequestRecord]

  // MARK: Runs: the dispatch path

  /// Applies a change to a request: a fast path of ``update(_:)``. Throws ``StoreError/fenced``, and changes nothing, if the request does
  /// not have the state or the run that the change starts from.
  func apply(_ change: RequestChange, to id: RequestID) throws
  /// Adds an ended run to the history.
  func append(_ run: RunRecord) throws

  // MARK: What plugins keep

  /// Writes a value of an identifier's state; nil deletes it. Throws ``StoreError/limit(_:)``.
  func setState(_ key: String, to value: [UInt8]?, of identifier: TaskIdentifier) throws
  /// Writes a request's checkpoint; nil deletes it.
  func setCheckpoint(_ value: [UInt8]?, of request: RequestID) throws

  // MARK: Plugins

  /// The health of every identifier that has a record.
  func pluginHealth() throws -> [TaskIdentifier: PluginHealth]
  /// Writes an identifier's health; nil deletes it.
  func setHealth(_ health: PluginHealth?, of identifier: TaskIdentifier) throws

  // MARK: Pauses

  /// The pauses that were not removed, in the order of their numbers.
  func pauses() throws -> [Pause]
  /// Adds a pause, and gives it a number that no pause of this store has had.
  func addPause(_ order: PauseOrder, since: WallTime) throws -> Pause
  /// Removes a pause that has ended.
  func removePause(_ id: PauseID) throws

  // MARK: Objectives

  /// Since when a success of each identifier is expected.
  func objectives() throws -> [TaskIdentifier: WallTime]
  /// Writes since when a success is expected; nil: none is any more.
  func setObjective(_ since: WallTime?, of identifier: TaskIdentifier) throws
  /// When the last successful run of an identifier ended, whatever the history has kept; nil if none has.
  func lastSuccess(of identifier: TaskIdentifier) throws -> WallTime?

  // MARK: Housekeeping

  /// Removes runs that ended before `horizon` or exceed `count`, and requests that succeeded or were cancelled and have no runs left.
  /// Examines at most `limit` rows of each. Keeps requests that failed permanently, and the last run and the last success of each schedule
  /// (``ScheduleRecord``); these runs no longer count towards `count` once they are older than all others.
  ///
  /// - Returns: Whether there is more to remove.
  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool
  /// Removes empty lanes if there may be many. Examines at most `limit`.
  ///
  /// - Returns: Whether there are more to examine.
  func pruneLanes(limit: Int) throws -> Bool

  // MARK: Leases

  /// Removes a request that the host holds for its fleet, with its runs; nil if the store has no such request.
  func surrender(_ id: RequestID) throws -> SurrenderedRequest?
}

extension StoreTransaction {
  /// Nil: most stores hold nothing for a fleet.
  public func surrender(_ id: RequestID) throws -> SurrenderedRequest? { nil }

  /// The payload for the request's next run.
  public func payload(of id: RequestID) throws -> [UInt8] { try input(of: id).payload }

  /// The request whose current run is `run`; throws ``StoreError/fenced`` if there is none.
  public func requestRunning(as run: RunID, of request: RequestID) throws -> RequestRecord {
    guard let record = try self.request(request), record.state == .running, record.run == run else { throw StoreError.fenced }
    return record
  }
}

/// A request that a host held for its fleet and holds no more: it has ended, or anybody may have it.
public struct SurrenderedRequest: Sendable, Hashable {
  /// The request with its payload.
  public var record: RequestRecord
  /// The runs that ended meanwhile, oldest first.
  public var runs: [RunRecord]
  /// The payload of the event that woke it, for its next run; nil for the submitted one.
  public var eventPayload: [UInt8]?
  /// What its runs saved for the next one; nil for nothing.
  public var checkpoint: [UInt8]?
  /// What it waits for, or waited for, if the host knew that.
  public var edges: [DependencyRecord]
  /// The fencing token with which the host held it: what became of it is for that claim alone, and not for a later one. Nil if it was here
  /// only to be changed.
  public var fencingToken: Int64?

  /// Creates one.
  public init(
    record: RequestRecord, runs: [RunRecord], eventPayload: [UInt8]? = nil, checkpoint: [UInt8]? = nil, edges: [DependencyRecord] = [],
    fencingToken: Int64? = nil
  ) {
    self.record = record
    self.runs = runs
    self.eventPayload = eventPayload
    self.checkpoint = checkpoint
    self.edges = edges
    self.fencingToken = fencingToken
  }
}

/// The answer to a submission with an idempotency key.
public struct KnownSubmission: Sendable, Hashable {
  /// A hash of the submission, which shows whether another submission with the key is the same.
  public var fingerprint: UInt64
  /// The resulting request.
  public var request: RequestID
  /// What the submission did.
  public var disposition: Disposition
  /// When the submission was made.
  public var submitted: WallTime

  /// Creates a submission.
  public init(fingerprint: UInt64, request: RequestID, disposition: Disposition, submitted: WallTime) {
    self.fingerprint = fingerprint
    self.request = request
    self.disposition = disposition
    self.submitted = submitted
  }
}

/// The relation between wall clock and boot clock during one boot of the machine.
public struct ClockReference: Sendable, Hashable {
  /// The id of the boot.
  public var boot: String
  /// Wall clock minus boot clock, in milliseconds.
  public var offset: Int64

  /// Creates a reference.
  public init(boot: String, offset: Int64) {
    self.boot = boot
    self.offset = offset
  }
}
