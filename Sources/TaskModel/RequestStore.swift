/// Keeps requests, runs and plugin state durably.
///
/// Writing is for one thread at a time: the scheduler's. Reading is for any thread and sees what was committed.
public protocol RequestStore: Sendable {
  /// The 62 bits that all ids of this store share.
  var origin: UInt64 { get }

  /// Runs `body` and commits what it did, durably, before returning; when it throws, nothing of it is kept.
  /// Blocks the calling thread, which must be the one that writes.
  func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value

  /// The requests that match, newest first.
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
  /// At most so many; 1 or more.
  public var limit = 100

  /// All, up to 100.
  public init() {}
}

/// Which runs a listing shows.
public struct RunQuery: Sendable, Hashable {
  /// Only those of this identifier.
  public var identifier: TaskIdentifier?
  /// Only those of this request.
  public var request: RequestID?
  /// At most so many; 1 or more.
  public var limit = 100

  /// All, up to 100.
  public init() {}
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
  public var rank: Int64 { due.unixMilliseconds - Int64(priority) * 300_000 }
}

/// The work of one commit. Valid inside ``RequestStore/commit(_:)`` only.
public protocol StoreTransaction {
  /// Runs `body` so that, when it throws, only what it did is undone.
  func savepoint<Value>(_ body: () throws -> Value) throws -> Value

  // MARK: Requests

  /// Adds a request.
  func insert(_ record: RequestRecord) throws
  /// Writes what of a request may change: its state and times, priority, unique key, repetition, and what is recorded of its runs.
  func update(_ record: RequestRecord) throws
  /// A request, without its payload; nil if there is none.
  func request(_ id: RequestID) throws -> RequestRecord?
  /// What was submitted with it.
  func payload(of id: RequestID) throws -> [UInt8]
  /// The live request of `identifier` that holds `key`.
  func holder(of key: String, identifier: TaskIdentifier) throws -> RequestRecord?
  /// The requests that wait for `id` to end.
  func blocked(by id: RequestID) throws -> [RequestRecord]
  /// How many requests of `identifier` are live.
  func liveCount(of identifier: TaskIdentifier) throws -> Int
  /// The identifiers that have requests that are pending.
  func identifiersWithPending() throws -> [TaskIdentifier]
  /// The pending requests of `identifier` that were due by `now`, best rank first.
  func due(of identifier: TaskIdentifier, by now: WallTime, limit: Int) throws -> [DueRequest]
  /// When the next pending request of `identifier` is due; nil: none is pending.
  func nextDue(of identifier: TaskIdentifier) throws -> WallTime?
  /// The requests that are recorded as running.
  func running() throws -> [RequestRecord]
  /// The live requests of all identifiers whose unique key begins with `prefix`.
  func holders(ofKeysBeginningWith prefix: String) throws -> [RequestRecord]
  /// The requests of `identifier` that wait for their run, pending and blocked ones, the oldest first.
  func waiting(of identifier: TaskIdentifier) throws -> [RequestRecord]
  /// The pending request of `identifier` that is due first.
  func firstPending(of identifier: TaskIdentifier) throws -> RequestRecord?

  // MARK: Runs: the dispatch path

  /// Records that a run of a pending request starts; everything else of the request stays.
  func start(_ id: RequestID, run: RunID, at now: WallTime) throws
  /// Records that a request that does not repeat succeeded with `run`: what ``update(_:)`` would do, for the common case. Throws
  /// ``StoreError/fenced`` when `run` is not its present run.
  func succeed(_ id: RequestID, run: RunID, outcome: RunOutcome, message: String?, at now: WallTime) throws
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

  /// Removes runs that ended before `horizon` or exceed `count`, and ended requests that have no run left; at most `limit` rows each.
  ///
  /// - Returns: Whether there is more to remove.
  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool
}
