import CTaskHost
import FoundationEssentials

/// Many triggers, one run: "something changed" as often as it may be said becomes one request, due after a quiet time and at latest after a
/// maximum delay, and a durable set of what has changed.
///
/// ```swift
/// func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
///   let changes = task.triggers("notes", drainedBy: try TaskRequest(identifier: task.identifier, json: Payload.drain))
///   switch task.payload {
///   case .changed(let note):
///     try changes.add(note)
///     return .success
///   case .drain:
///     return try await changes.drain { change, _ in try await upload(change) }
///   }
/// }
/// ```
///
/// The set lives in the identifier's state, so it survives crashes and outlives the request. A trigger is durable when ``add(_:)-(String)``
/// returns.
/// It leaves the set exactly when a drain has done it: one that comes while it is being done is done again.
///
/// The request has the unique key `taskhost.triggers.NAME`. Until its drain begins, a trigger replaces it to move it; from then on until
/// a drain has come to the end it is kept, with its backoff, and takes what comes meanwhile along. At most 10,000 keys and 1 MiB of them are
/// kept apart; beyond that the set becomes ``CoalescedChange/everything``. Each trigger rewrites the set: it is made for thousands of keys,
/// not for millions.
public struct CoalescedTriggers: Sendable {
  /// Names the set within the identifier.
  public let name: String

  /// When the run is due.
  public let window: CoalescingWindow

  private let request: TaskRequest
  private let run: RunHandle
  private let store: CoalescedSetStore

  init(_ run: RunHandle, name: String, window: CoalescingWindow, drainedBy request: TaskRequest) {
    self.name = name
    self.window = window
    self.run = run
    store = CoalescedSetStore(run: run, name: name)
    var request = request
    request.uniqueKey = "taskhost.triggers.\(name)"
    self.request = request
  }

  /// What waits for a drain, oldest first.
  ///
  /// - Throws: ``TaskHostError``.
  public var pending: [CoalescedChange] {
    get throws { try store.load().changes.map(\.change) }
  }

  /// Says that something has changed, and sees to it that a drain is due.
  ///
  /// - Parameter key: What, 1 to 256 bytes of UTF-8.
  /// - Throws: ``TaskHostError``: `invalid` for such a key; `unavailable` where it was not stored; what ``TaskContext/submit(_:)`` throws. Let
  ///   it end the run, as a retry: the trigger is then said again.
  @discardableResult
  public func add(_ key: String) throws -> Submission {
    try add([key])
  }

  /// Says that several things have changed, in one durable step: see ``add(_:)-(String)``. Of no keys nothing is stored.
  ///
  /// - Throws: As there.
  @discardableResult
  public func add(_ keys: [String]) throws -> Submission {
    if let key = keys.first(where: { !(1...256).contains($0.utf8.count) }) {
      throw TaskHostError(
        status: taskhost_status(TASKHOST_EINVAL), message: "a trigger's key has \(key.utf8.count) bytes; give 1 to 256")
    }
    let now = run.now
    let (due, policy) = try store.change { set in
      let latest = set.since.map { Date(unixMilliseconds: $0).addingTimeInterval(window.maximumDelay.seconds) }
      _ = set.add(keys, at: now.unixMilliseconds)
      let quiet = now.addingTimeInterval(window.debounce.seconds)
      // The holder runs, or waits for its next attempt: it looks into the set again before it ends.
      if set.isDraining { return (quiet, ConflictPolicy.keep) }
      guard let latest else { return (min(quiet, now.addingTimeInterval(window.maximumDelay.seconds)), .replace) }
      // It has waited long enough: it must not be put off by being replaced at the last moment.
      return latest <= now ? (now, .keep) : (min(quiet, latest), .replace)
    }
    var request = request
    request.earliestBegin = due
    request.onConflict = policy
    return try run.submit(request)
  }

  /// Has what waits drained at once: see ``TaskContext/syncNow(_:)``. A drain that waits for its next attempt is brought forward.
  ///
  /// - Throws: ``TaskHostError`` as ``TaskContext/submit(_:)``.
  @discardableResult
  public func syncNow() throws(TaskHostError) -> Submission {
    try run.submitNow(request)
  }

  /// Does what waits, oldest first, in a run of the request that ``TaskContext/triggers(_:window:drainedBy:)`` was given.
  ///
  /// What is done leaves the set at each checkpoint, so a later run goes on with the rest. What is done after the last checkpoint is done
  /// again when the process or the machine dies: `body` must be idempotent.
  ///
  /// - Parameters:
  ///   - budget: What one run may take.
  ///   - interval: How often what is done leaves the set.
  ///   - body: Called for one change after the other, on the run's thread. When it throws, what was done before leaves the set, and the error
  ///     is passed on.
  /// - Returns: What to return from the run: success; noop where nothing was waiting; snooze where the budget is spent or triggers have
  ///   come meanwhile; retry where the run expired before it did anything.
  /// - Throws: What `body` throws; ``TaskHostError`` where the set cannot be read or written.
  nonisolated(nonsending) public func drain(
    budget: WorkBudget = WorkBudget(), checkpoint interval: CheckpointInterval = CheckpointInterval(),
    body: nonisolated(nonsending) (CoalescedChange, inout WorkMeter) async throws -> Void
  ) async throws -> TaskResult {
    let changes = try begin()
    guard !changes.isEmpty else { return .noop }
    var pass = DrainPass(changes, run: run, store: store, budget: budget, interval: interval)
    if let unfinished = try await pass.go(body) { return unfinished }
    return try end()
  }

  /// Does all that waits in one step, such as one message to a server: as ``drain(budget:checkpoint:body:)``, but the changes leave the set
  /// together, when `body` returns success or noop.
  ///
  /// - Returns: What `body` returns; snooze where that was a success and triggers have come meanwhile.
  /// - Throws: What `body` throws; ``TaskHostError``.
  nonisolated(nonsending) public func drainAll(
    body: nonisolated(nonsending) ([CoalescedChange]) async throws -> TaskResult
  ) async throws -> TaskResult {
    let changes = try begin()
    guard !changes.isEmpty else { return .noop }
    let result = try await body(changes.map(\.change))
    guard result == .success || result == .noop else { return result }
    try store.change { $0.remove(changes) }
    let rest = try end()
    return rest == .success ? result : rest
  }

  /// Notes that a drain has begun, and says what there is to do.
  private func begin() throws -> [(change: CoalescedChange, number: UInt64)] {
    try store.change { set in
      set.isDraining = !set.isEmpty
      return set.changes
    }
  }

  /// Everything that was there is done. What came meanwhile waits for its own quiet time.
  private func end() throws -> TaskResult {
    let now = run.now.unixMilliseconds
    let isEmpty = try store.change { set in
      set.isDraining = false
      set.since = set.isEmpty ? nil : now
      return set.isEmpty
    }
    return isEmpty ? .success : .snooze(after: window.debounce)
  }
}

extension TaskContext {
  /// The triggers of one kind that the identifier gathers.
  ///
  /// - Parameters:
  ///   - name: Names the set, 1 to 200 bytes of UTF-8.
  ///   - window: When the run is due.
  ///   - request: What drains the set: a request whose run calls ``CoalescedTriggers/drain(budget:checkpoint:body:)``. Of the plugin's own
  ///     identifier, whose state the set is in. Its unique key, policy and earliest begin are chosen by the triggers.
  public func triggers(_ name: String, window: CoalescingWindow = CoalescingWindow(), drainedBy request: TaskRequest) -> CoalescedTriggers {
    CoalescedTriggers(run, name: name, window: window, drainedBy: request)
  }
}
