import CTaskHost
import TaskHostSDK

/// A live run, whose requests are durable when the call returns. Usable from any thread; once the run is over, it makes no calls and
/// refuses requests as the host does for a stale run.
struct RunChannel: RequestChannel, Sendable {
  let gated: GatedRun
  /// For calls on the run's own thread; from others it is valid only within ``call(_:)``.
  var run: RunHandle { gated.run }
  private var host: HostFunctions { run.table }
  private var task: taskhost_task { run.task }

  init(_ run: RunHandle) { gated = GatedRun(run) }

  /// Calls `body`, unless the run is over.
  ///
  /// - Returns: What `body` returns; `nil` if the run is over.
  @discardableResult func call<Result>(_ body: (RunHandle) throws -> Result) rethrows -> Result? { try gated.call(body) }

  /// Ends the run. The handle is not used after this returns.
  func close() { gated.close() }

  private func request<Result>(_ body: () throws -> Result) throws -> Result {
    guard let result = try gated.call({ _ in try body() }) else { throw TaskHostError(TASKHOST_ESTALE, "the run is over") }
    return result
  }

  func pending() throws -> [ListedRequest] { try request { try list() } }

  func cancel(hostIdentifier: String, identifier: String) throws {
    try request { try cancelPending(hostIdentifier, identifier) }
  }

  func cancelAll() throws {
    let table = try host.requests()
    try request { try host.check(table.pointee.cancel_all(task, nil)) }
  }

  func replace(_ pending: [ListedRequest], of order: Order, submit: () throws -> Void) throws {
    try submit()
    // The new one counts: what cannot be cancelled, because the run ends just now, is replaced by the next submission.
    try? request { try cancel(pending) }
  }

  func submit(_ order: Order, atOnce: Bool) throws { try request { try submitNow(order, atOnce) } }

  /// - Returns: Whether the host accepted the line; `nil` if the run is over.
  func log(_ level: Logger.Level, _ text: String) -> Bool? { gated.log(level, text) }

  private func list() throws -> [ListedRequest] {
    let table = try host.requests()
    return try ListedRequest.Collector.collect { visit, context in
      try host.check(table.pointee.list(task, visit, context))
    }
  }

  private func cancelPending(_ hostIdentifier: String, _ identifier: String) throws {
    guard hostIdentifier != identifier else {
      let table = try host.requests()
      return try host.check(hostIdentifier.withCString { table.pointee.cancel_identifier(task, $0, nil) })
    }
    try cancel(try list().filter { $0.identifier == identifier })
  }

  private func cancel(_ requests: [ListedRequest]) throws {
    for request in requests {
      let status = request.requestID.withCString { host.api.pointee.cancel(task, $0) }
      if status != taskhost_status(TASKHOST_ENOTFOUND) { try host.check(status) }
    }
  }

  private func submitNow(_ order: Order, _ atOnce: Bool) throws {
    var submission = Submission.emptyCValue
    try host.check(try order.withCValue { host.api.pointee.submit(task, $0, &submission) })
    guard atOnce, submission.next_start_unix_ms > host.api.pointee.now_unix_ms(task) else { return }
    withUnsafeBytes(of: submission.request_id) { bytes in
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
      _ = host.api.pointee.cancel(task, start)
    }
    throw BGTaskScheduler.Error(.immediateRunIneligible, "\(order.identifier) would have to wait before it could begin")
  }
}
