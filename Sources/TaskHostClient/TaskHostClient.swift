import Glibc
import StrictText
import TaskModel

/// A client of a host, for programs that are not plugins.
///
/// It may be used from any thread and by several tasks at once; each call makes a connection of its own. Errors are ``TaskHostError``: what
/// failed, why, and what to do.
public struct TaskHostClient: Sendable {
  let caller: ControlCaller

  /// A client of the host at a control socket. Connects with the first call.
  ///
  /// - Parameter socket: The socket's path; nil: the variable `TASKHOST_SOCKET`, otherwise `state/control.sock`.
  public init(socket: String? = nil) {
    caller = ControlCaller(.socket(socket ?? Self.variable("TASKHOST_SOCKET") ?? "state/control.sock"))
  }

  /// A client of a host that listens on TCP. Connects with the first call.
  ///
  /// - Parameters:
  ///   - url: `https://HOST:PORT`, or `http://HOST:PORT` where nothing is encrypted.
  ///   - token: The bearer token; nil: the variable `TASKHOST_TOKEN`.
  ///   - certificateAuthority: A file of certificates in PEM, one of which the host's certificate must come from; nil: those of the system.
  /// - Throws: If the URL, the token or the file cannot be used.
  public init(url: String, token: String? = nil, certificateAuthority: String? = nil) throws(TaskHostError) {
    let token = token ?? Self.variable("TASKHOST_TOKEN")
    caller = ControlCaller(.remote(try RemoteHost(url: url, token: token, certificateAuthority: certificateAuthority)))
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  // MARK: Requests

  /// Submits a request. It is stored when this returns.
  ///
  /// Without an ``Options/idempotencyKey``, an error of the kind ``TaskHostError/Kind/unreachable`` leaves open whether it was stored.
  ///
  /// - Parameters:
  ///   - identifier: Whose handler is to run.
  ///   - payload: What the handler gets; nil: nothing.
  public func submit(
    _ identifier: String, payload: Payload? = nil, options: Options = Options()
  ) async throws(TaskHostError) -> Submission {
    try await Self.typed {
      let body = try JSONWriter.object { writer in
        writer.member("identifier", identifier)
        try payload?.write(into: &writer)
        options.write(into: &writer)
      }
      return Submission(try await caller.send("POST", "/v1/requests", body).read(SubmissionAnswer.self))
    }
  }

  /// A request as it is now.
  public func request(_ id: String) async throws(TaskHostError) -> Request {
    try await Self.typed { try Request(await caller.send("GET", "/v1/requests/\(ControlCaller.escape(id))")) }
  }

  /// Cancels a request. Its live run gets the expiration handler.
  ///
  /// - Returns: The request afterwards; still running if a run has to end first.
  public func cancel(_ id: String) async throws(TaskHostError) -> Request {
    try await Self.typed { try Request(await caller.send("DELETE", "/v1/requests/\(ControlCaller.escape(id))")) }
  }

  /// Waits until a request has ended, also if it has already; of a repeating request, until the next occurrence ends.
  ///
  /// - Parameter timeout: How long to wait at most; nil: without a limit. Then the error is ``TaskHostError/Kind/timedOut``, and the request goes on.
  /// - Throws: ``TaskHostError/Kind/unreachable`` if the host goes away: call it again when the host is back.
  public func wait(_ id: String, timeout: Duration? = nil) async throws(TaskHostError) -> Ended {
    try await Self.typed {
      guard let timeout else { return try await ending(of: id) }
      return try await withThrowingTaskGroup(of: Ended.self) { group in
        group.addTask { try await ending(of: id) }
        group.addTask {
          try await Task.sleep(for: timeout)
          throw TaskHostError(.timedOut, id, "it did not end in time", remedy: "wait again: the request goes on")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
      }
    }
  }

  private func ending(of id: String) async throws -> Ended {
    let events = try await caller.subscribe(request: id)
    let record: RequestAnswer = try await caller.send("GET", "/v1/requests/\(ControlCaller.escape(id))").read()
    let watch = OccurrenceWatch(caller, request: id, isRepeating: record.repetition.repeats, existed: true)
    return try Ended(id, try await watch.ending(events))
  }

  // MARK: Events

  /// Subscribes to what happens on the host, or to one request. Everything that happens after this returns is in it.
  ///
  /// Read it as fast as events come: a reader that is slow for long misses some, and an event `missed` says so.
  ///
  /// - Parameter request: The id of the request; nil: everything.
  public func follow(_ request: String? = nil) async throws(TaskHostError) -> Events {
    try await Self.typed { Events(try await caller.subscribe(request: request)) }
  }

  /// Raises an event: wakes the requests that wait for it.
  ///
  /// - Parameter payload: What the woken runs get; nil: nothing.
  public func notify(_ event: String, payload: Payload? = nil) async throws(TaskHostError) -> Receipt {
    try await Self.typed {
      let body = try payload.map { payload in try JSONWriter.object { try payload.write(into: &$0) } }
      return Receipt(try await caller.send("POST", "/v1/events/\(ControlCaller.escape(event))", body).read(ReceiptAnswer.self))
    }
  }

  // MARK: Holding the host

  /// Runs `body` while an execution assertion is held: a host that drains waits for it.
  ///
  /// If the time is over before the body, the host no longer waits, and the body goes on.
  ///
  /// - Parameters:
  ///   - reason: What `taskhost status` shows.
  ///   - length: How long the host waits at most, up to ten minutes.
  ///   - name: Who holds it; nil: the name of the program.
  /// - Throws: ``TaskHostError`` if the host refuses, then `body` does not run; otherwise what `body` throws.
  public func hold<Value>(
    _ reason: String, for length: Duration = .seconds(30), name: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
  ) async throws -> Value {
    let id = try await beginAssertion(reason, length, name)
    do {
      let value = try await body()
      await giveBack(id)
      return value
    } catch {
      await giveBack(id)
      throw error
    }
  }

  private func beginAssertion(_ reason: String, _ length: Duration, _ name: String?) async throws(TaskHostError) -> String {
    try await Self.typed {
      let body = JSONWriter.object { writer in
        writer.member("name", name ?? CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "swift")
        writer.member("reason", reason)
        writer.member("for_ms", length.wholeMilliseconds)
        // If this process is killed, nobody gives it back.
        if case .socket = caller.address { writer.member("process_id", getpid()) }
      }
      return try await caller.send("POST", "/v1/assertions", body).read(HeldAnswer.self).id
    }
  }

  /// One that has expired has ended, perhaps with its host.
  private func giveBack(_ id: String) async { _ = try? await caller.send("DELETE", "/v1/assertions/\(ControlCaller.escape(id))") }

  private struct HeldAnswer: Decodable {
    let id: String
  }

  /// Turns whatever is thrown into the one error of this module.
  static func typed<Value>(_ body: () async throws -> Value) async throws(TaskHostError) -> Value {
    do { return try await body() } catch { throw TaskHostError(error) }
  }
}

extension TaskHostError {
  init(_ error: any Error) {
    switch error {
    case let error as TaskHostError: self = error
    case is CancellationError: self.init(.interrupted, nil, "the task that waited was cancelled")
    default: self.init(.unreachable, nil, "the connection failed: \(error)", remedy: "try again")
    }
  }
}
