// What a run can ask of the host, and change: requests, runs, the machine. The host offers it as `org.taskhost.requests/2`; an older one
// does not, and every function here throws `TaskHostError` with the code `unsupported`.

extension TaskContext {
  /// Lists the live requests of an identifier, newest first, at most 1,000: those that are blocked, pending or running, also those of a
  /// `schedule`.
  ///
  /// - Parameter identifier: The plugin's own, or one that it may submit to; of the latter, payloads are not shown. Default `nil`: all of the
  ///   plugin's own, one after the other.
  /// - Throws: ``TaskHostError`` with the code `notPermitted`, `limit` (ask again later), `unavailable` or `stale`.
  public func requests(of identifier: String? = nil) throws -> [RequestInfo] {
    try RequestsTable(run.table).list(identifier, run.task).map { try RequestInfo(json: $0) }
  }

  /// Returns a request, live or ended.
  ///
  /// - Throws: ``TaskHostError`` with the code `notFound`, and as ``requests(of:)``.
  public func request(_ id: String) throws -> RequestInfo { try RequestInfo(json: try one(RequestsTable(run.table).show(id, run.task))) }

  /// Says why a request is not running, as `taskhost tasks why` does. It costs the host some computing: do not ask in a loop.
  ///
  /// - Throws: ``TaskHostError`` as ``request(_:)``.
  public func explanation(of id: String) throws -> RequestExplanation {
    try RequestExplanation(json: try one(RequestsTable(run.table).why(id, run.task)))
  }

  /// Reads the conditions of the machine.
  ///
  /// - Throws: ``TaskHostError`` with the code `limit`, `unavailable` or `stale`.
  public func conditions() throws -> [ConditionReading] {
    try run.conditions()
  }

  /// Lists the last runs that have ended and are still on record, newest first.
  ///
  /// - Parameters:
  ///   - identifier: The plugin's own, or one that it may submit to. Default `nil`: the run's.
  ///   - limit: How many at most, 1 to 1,000.
  /// - Throws: ``TaskHostError`` as ``requests(of:)``.
  public func runs(of identifier: String? = nil, limit: Int = 10) throws -> [RunInfo] {
    try RequestsTable(run.table).runs(identifier ?? self.identifier, limit, run.task).map { try RunInfo(json: $0) }
  }

  /// Returns the last run on record that succeeded or found nothing to do; `nil` if there is none.
  ///
  /// - Parameter identifier: As in ``runs(of:limit:)``.
  /// - Throws: ``TaskHostError`` as ``requests(of:)``.
  public func lastSuccess(of identifier: String? = nil) throws -> RunInfo? {
    try RequestsTable(run.table).lastSuccess(identifier ?? self.identifier, run.task).first.map { try RunInfo(json: $0) }
  }

  /// Postpones a waiting request, which then starts at the earliest after `delay`. Durable when it returns. A request cannot start before its
  /// own time, and an occurrence of one that repeats not after the next one.
  ///
  /// - Parameter delay: From now, rounded up to milliseconds.
  /// - Throws: ``TaskHostError`` with the code `notFound` if there is no such live request; `notPermitted`, also for the request of a
  ///   `schedule`; `invalid` if it runs or waits for an event; `unavailable` or `stale`.
  @discardableResult
  public func snooze(_ id: String, for delay: Duration) throws(TaskHostError) -> Submission {
    try RequestsTable(run.table).snooze(id, for: delay, run.task)
  }

  /// Replaces the fields of a live request. Durable when it returns. The request keeps its identifier, its unique and idempotency keys and its
  /// predecessors; a run in progress goes on unchanged.
  ///
  /// - Parameter request: All fields as they shall be: begin with ``RequestInfo/request``.
  /// - Throws: ``TaskHostError`` as ``snooze(_:for:)`` and ``submit(_:)``.
  @discardableResult
  public func update(_ id: String, with request: TaskRequest) throws(TaskHostError) -> Submission {
    try RequestsTable(run.table).update(id, with: request, run.task)
  }

  private func one(_ texts: [[UInt8]]) throws(TaskHostError) -> [UInt8] { try RequestsTable.one(texts) }
}

extension RunHandle {
  /// The conditions of the machine: see ``TaskContext/conditions()``.
  package func conditions() throws -> [ConditionReading] {
    try ConditionReading.all(json: try RequestsTable.one(RequestsTable(table).conditions(task)))
  }
}

extension RequestsTable {
  /// The only text of an answer.
  static func one(_ texts: [[UInt8]]) throws(TaskHostError) -> [UInt8] {
    guard let text = texts.first else { throw noAnswer }
    return text
  }
}
