public import FoundationEssentials
public import Logging

/// One run: its payload and its access to the host.
///
/// Usable from any thread while the run is live, grace included. Once the run is over, calls throw ``TaskHostError`` with the code `stale`
/// or do nothing.
public struct TaskContext<Payload: Sendable>: Sendable {
  /// The request's payload.
  public let payload: Payload

  /// The request's payload as it was submitted.
  public let payloadBytes: [UInt8]

  /// The task identifier that runs.
  public let identifier: String

  /// The request's id, the same for all its attempts: use it as the idempotency key.
  public let requestID: String

  /// 1 on the first run, one more for each attempt spent.
  public let attempt: Int

  let run: RunHandle

  /// Time until expiration (continued tasks: until the run would count as stalled), on the monotonic clock; zero or negative in grace, zero
  /// once the run is over.
  public var remaining: Duration { run.remaining }

  /// Time until the run is stopped by force; before expiration, the whole grace it would get. Zero once the run is over.
  public var grace: Duration { run.grace }

  /// Whether the run has expired; true once it is over.
  public var isExpired: Bool { run.isExpired }

  /// Why the run was asked to stop; ``StopReason/none`` if it was not.
  public var stopReason: StopReason { run.stopReason }

  /// A logger that writes all levels to the run's log, with metadata appended as `key=value`. Each access creates a new one: keep a copy to
  /// give it metadata.
  public var logger: Logger {
    Logger(label: identifier) { [run] _ in TaskLogHandler(run) }
  }

  /// The host's wall clock, which is virtual under test.
  public var now: Date { run.now }

  /// Reports progress, for people and for stall detection. A `total` of 0 means unknown.
  public func progress(_ completed: UInt64, of total: UInt64) {
    _ = run.functions.pointee.progress(run.task, completed, total)
  }

  /// Sets the run's output, at most 65,536 bytes; the last call wins.
  ///
  /// - Throws: ``TaskHostError`` with the code `tooBig` or `stale`.
  public func setOutput(_ bytes: [UInt8]) throws(TaskHostError) {
    try run.write(bytes) { run.functions.pointee.set_output(run.task, $0, $1) }
  }

  /// Sets the run's output to `value` as JSON, at most 65,536 bytes; the last call wins. `[UInt8]` is taken as bytes; an array literal of
  /// integers is `[Int]` to Swift and thus JSON.
  ///
  /// - Throws: `EncodingError`, ``TaskHostError`` with the code `tooBig` or `stale`.
  public func setOutput(_ value: some Encodable) throws {
    try setOutput(try JSON.encode(value))
  }

  /// Sets the sentence for the operator: why the run fails or retries. The last call wins. At most 8 KiB; the host cuts and marks the rest.
  public func setMessage(_ text: String) {
    run.setMessage(text)
  }

  /// Suspends the calling task without blocking the run's thread, so sibling tasks continue.
  ///
  /// Uses the machine's monotonic clock; under `TaskHostTesting`, the test's virtual clock. So a test of a handler that sleeps with this
  /// function, instead of `Task.sleep`, does not wait.
  ///
  /// - Throws: `CancellationError` when the run expires or the calling task is cancelled; at once if that happened before the call.
  public func sleep(for duration: Duration) async throws {
    if isExpired { throw CancellationError() }
    if let clock = run.virtualTime {
      try await clock.sleep(for: duration)
    } else {
      try await Task.sleep(for: duration)
    }
    if isExpired { throw CancellationError() }
  }

  /// The identifier's durable values.
  public var state: StateStore { StateStore(run: run) }

  /// The place at which an earlier run of this request stopped.
  public var checkpoint: Checkpoint { Checkpoint(run: run) }

  /// Submits a request; it is durable when this returns.
  ///
  /// - Throws: ``TaskHostError`` with the code `notPermitted`, `tooBig`, `limit`, `unsupported`, `unavailable`, `invalid` or `stale`.
  @discardableResult
  public func submit(_ request: TaskRequest) throws(TaskHostError) -> Submission { try run.submit(request) }

  /// Cancels a request of an identifier the plugin may submit to.
  ///
  /// - Throws: ``TaskHostError`` with the code `notFound` when there is no such request or it has ended, `notPermitted` or `stale`.
  public func cancel(requestID: String) throws(TaskHostError) {
    let requestID = try CStrings.checked(requestID, "the request id")
    try run.check(requestID.withCString { run.functions.pointee.cancel(run.task, $0) })
  }
}

extension TaskContext where Payload: Decodable {
  /// Copies what the host lends, and decodes the payload.
  ///
  /// - Throws: ``TaskHostError`` when the run is over, `DecodingError` or what the payload's own decoding throws.
  init(_ run: RunHandle) throws {
    let bytes = try run.payload()
    if Payload.self == NoPayload.self, let none = NoPayload() as? Payload {
      payload = none
    } else {
      payload = try JSON.decode(Payload.self, from: bytes)
    }
    payloadBytes = bytes
    identifier = run.functions.pointee.identifier(run.task).map { String(cString: $0) } ?? ""
    requestID = run.functions.pointee.request_id(run.task).map { String(cString: $0) } ?? ""
    attempt = Int(run.functions.pointee.attempt(run.task))
    self.run = run
  }
}
