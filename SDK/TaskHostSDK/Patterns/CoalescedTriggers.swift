import CTaskHost
import FoundationEssentials

/// Merges any number of "something changed" triggers into one request and a durable set of changes. The request is due after a quiet time,
/// or at the latest after a maximum delay.
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
/// returns, and leaves the set only when a drain has processed it. A trigger that arrives meanwhile is processed again.
///
/// The request has the unique key `taskhost.triggers.NAME`. Before its drain begins, each trigger postpones it by replacing it. From then
/// until a drain finishes, the request is kept with its backoff and also processes newer triggers. The set keeps at most 10,000 keys and 1
/// MiB; beyond that it becomes ``CoalescedChange/everything``. Each trigger rewrites the set, so use it for thousands of keys, not
/// millions.
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

  /// The changes that wait for a drain, oldest first.
  ///
  /// - Throws: ``TaskHostError``.
  public var pending: [CoalescedChange] {
    get throws { try store.load().changes.map(\.change) }
  }

  /// Records a change and ensures that a drain is due.
  ///
  /// - Parameter key: The key of the change, 1 to 256 bytes of UTF-8.
  /// - Throws: ``TaskHostError``: `invalid` for a malformed key; `unavailable` if it was not stored; errors of ``TaskContext/submit(_:)``.
  ///   Let the error end the run as a retry, which repeats the trigger.
  @discardableResult
  public func add(_ key: String) throws -> Submission {
    try add([key])
  }

  /// Records several changes in one durable step: see ``add(_:)-(String)``. Does nothing without keys.
  ///
  /// - Throws: The same errors.
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
      // The holder runs or waits for its next attempt, and reads the set again before it ends.
      if set.isDraining { return (quiet, ConflictPolicy.keep) }
      guard let latest else { return (min(quiet, now.addingTimeInterval(window.maximumDelay.seconds)), .replace) }
      // A change that has waited long enough must not be postponed at the last moment.
      return latest <= now ? (now, .keep) : (min(quiet, latest), .replace)
    }
    var request = request
    request.earliestBegin = due
    request.onConflict = policy
    return try run.submit(request)
  }

  /// Drains the waiting changes immediately: see ``TaskContext/syncNow(_:)``. Brings forward a drain that waits for its next attempt.
  ///
  /// - Throws: The ``TaskHostError`` codes of ``TaskContext/submit(_:)``.
  @discardableResult
  public func syncNow() throws(TaskHostError) -> Submission {
    try run.submitNow(request)
  }

  /// Processes the waiting changes, oldest first, in a run of the request that was passed to ``TaskContext/triggers(_:window:drainedBy:)``.
  ///
  /// Processed changes leave the set at each checkpoint, so a later run continues with the rest. If the process or the machine dies,
  /// changes after the last checkpoint are processed again, so `body` must be idempotent.
  ///
  /// - Parameters:
  ///   - budget: The limits of one run.
  ///   - interval: How often processed changes leave the set.
  ///   - body: Called for each change in order, on the run's thread. If it throws, the changes processed before leave the set, and the
  ///     error is rethrown.
  /// - Returns: The result for the run: success; noop if nothing was waiting; snooze if the budget is spent or new triggers arrived; retry
  ///   if the run expired before it processed anything.
  /// - Throws: What `body` throws; ``TaskHostError`` if the set cannot be read or written.
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

  /// Processes all waiting changes in one step, such as one message to a server. Unlike with ``drain(budget:checkpoint:body:)``, the
  /// changes leave the set together, when `body` returns success or noop.
  ///
  /// - Returns: What `body` returns; snooze if that was a success and new triggers arrived.
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

  /// Records that a drain has begun, and returns the pending changes.
  private func begin() throws -> [(change: CoalescedChange, number: UInt64)] {
    try store.change { set in
      set.isDraining = !set.isEmpty
      return set.changes
    }
  }

  /// Ends a drain. Newer triggers wait for their own quiet time.
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
  /// Returns the identifier's triggers of one kind.
  ///
  /// - Parameters:
  ///   - name: Names the set, 1 to 200 bytes of UTF-8.
  ///   - window: When the run is due.
  ///   - request: The request that drains the set: its run calls ``CoalescedTriggers/drain(budget:checkpoint:body:)``. It must have the
  ///     plugin's own identifier, whose state holds the set. The triggers set its unique key, policy and earliest begin.
  public func triggers(_ name: String, window: CoalescingWindow = CoalescingWindow(), drainedBy request: TaskRequest) -> CoalescedTriggers {
    CoalescedTriggers(run, name: name, window: window, drainedBy: request)
  }
}

/// How long triggers are collected before a run.
public struct CoalescingWindow: Sendable, Equatable {
  /// Quiet time: the run is due this long after the last trigger.
  public var debounce: Duration

  /// The run is due at the latest this long after the first trigger, however many follow.
  public var maximumDelay: Duration

  /// Creates a window. Default: 2 s of quiet, 30 s at most.
  public init(debounce: Duration = .seconds(2), maximumDelay: Duration = .seconds(30)) {
    self.debounce = debounce
    self.maximumDelay = maximumDelay
  }
}
