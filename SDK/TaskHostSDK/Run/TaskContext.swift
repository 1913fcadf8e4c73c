public import FoundationEssentials
public import Logging

/// One run: its payload and its access to the host.
///
/// Usable from any thread while the run is live, grace included. Once the run is over, calls throw ``TaskHostError`` with the code `stale`
/// or do nothing.
public struct TaskContext<Payload: Sendable>: Sendable {
  /// The request's payload.
  public let payload: Payload

  /// The request's payload as submitted.
  public let payloadBytes: [UInt8]

  /// The task identifier of the run.
  public let identifier: String

  /// The request's id, the same for all its attempts. Use it as the idempotency key.
  public let requestID: String

  /// 1 for the first run, plus one for each attempt spent.
  public let attempt: Int

  package let run: RunHandle

  /// Time until expiration, on the monotonic clock; for a continued task, until it would count as stalled. Zero or negative in grace, zero
  /// once the run is over.
  public var remaining: Duration { run.remaining }

  /// Time until the host stops the run by force; before expiration, the whole grace. Zero once the run is over.
  public var grace: Duration { run.grace }

  /// Whether the run has expired; true once it is over.
  public var isExpired: Bool { run.isExpired }

  /// Why the host asked the run to stop; ``StopReason/none`` if it did not.
  public var stopReason: StopReason { run.stopReason }

  /// A logger that writes all levels to the run's log, with metadata appended as `key=value`. Each access creates a logger: keep a copy to
  /// add metadata.
  public var logger: Logger {
    Logger(label: identifier) { [run] _ in TaskLogHandler(run) }
  }

  /// The host's wall clock, which is virtual under test.
  public var now: Date { run.now }

  /// Reports progress, for people and for stall detection.
  ///
  /// ```swift
  /// task.progress(3, of: 10, unit: "files", message: "copying report.pdf")
  /// ```
  ///
  /// - Parameters:
  ///   - completed: Units done.
  ///   - total: All units; 0 if unknown.
  ///   - unit: What is counted, as a plural of at most 32 bytes; "bytes" are shown as sizes. `nil` keeps the last one, "" removes it.
  ///   - message: What the run does now, at most 512 bytes; as `unit`. The host cuts and marks longer texts.
  public func progress(_ completed: UInt64, of total: UInt64, unit: String? = nil, message: String? = nil) {
    run.progress(completed, of: total, unit: unit, message: message)
  }

  /// Adds to what the run has done, for its record. A ``WorkMeter`` does so by itself: do not count the same work here.
  public func addWork(_ work: WorkCounts) { run.add(work) }

  /// Sets the run's output, at most 65,536 bytes; the last call wins.
  ///
  /// - Throws: ``TaskHostError`` with the code `tooBig` or `stale`.
  public func setOutput(_ bytes: [UInt8]) throws(TaskHostError) {
    try run.write(bytes) { run.functions.pointee.set_output(run.task, $0, $1) }
  }

  /// Sets the run's output to `value` as JSON, at most 65,536 bytes; the last call wins. `[UInt8]` is stored unchanged. Swift reads an
  /// array literal of integers as `[Int]`, which becomes JSON.
  ///
  /// - Throws: `EncodingError`, ``TaskHostError`` with the code `tooBig` or `stale`.
  public func setOutput(_ value: some Encodable) throws {
    try setOutput(try JSON.encode(value))
  }

  /// Sets the sentence that tells the operator why the run fails or retries. The last call wins. The host cuts and marks text above 8 KiB.
  public func setMessage(_ text: String) {
    run.setMessage(text)
  }

  /// Suspends the calling task without blocking the run's thread, so sibling tasks continue.
  ///
  /// Uses the machine's monotonic clock, or the test's virtual clock under `TaskHostTesting`. A test of a handler that calls this function
  /// instead of `Task.sleep` need not wait.
  ///
  /// - Throws: `CancellationError` when the run expires or the calling task is cancelled, at once if that has already happened.
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

  /// The point at which an earlier run of this request stopped.
  public var checkpoint: Checkpoint { Checkpoint(run: run) }

  /// Submits a request, which is durable when this returns.
  ///
  /// - Throws: ``TaskHostError`` with the code `notPermitted`, `tooBig`, `limit`, `unsupported`, `unavailable`, `invalid` or `stale`.
  @discardableResult
  public func submit(_ request: TaskRequest) throws(TaskHostError) -> Submission { try run.submit(request) }

  /// Cancels a request of an identifier that the plugin may submit to.
  ///
  /// - Throws: ``TaskHostError`` with the code `notFound` if the request does not exist or has ended, `notPermitted` or `stale`.
  public func cancel(requestID: String) throws(TaskHostError) {
    let requestID = try CStrings.checked(requestID, "the request id")
    try run.check(requestID.withCString { run.functions.pointee.cancel(run.task, $0) })
  }
}

extension TaskContext where Payload: Decodable {
  /// Copies the host's data and decodes the payload.
  ///
  /// - Throws: ``TaskHostError`` when the run is over; `DecodingError` or an error of the payload's own decoding.
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
