import HostThreads
import StrictText
import TaskModel

/// Calls the routes of a host.
package struct ControlCaller: Sendable {
  /// The maximum size of an answer in bytes, enough for a listing of 10,000 rows.
  private static let answerBytes = 256 * 1_048_576
  /// What to do where no host is.
  package static let start = "start one: taskhost run, or name its socket"

  /// Where the host is. Each call makes its own connection.
  package let address: ControlAddress
  /// The maximum wait for an answer.
  package var patience = Duration.seconds(60)

  package init(_ address: ControlAddress) { self.address = address }

  /// Sends a request, perhaps with a JSON body, and reads the answer. Throws if the host answers with an error.
  package func send(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Answer {
    let (status, bytes): (Int, [UInt8])
    do {
      (status, bytes) = try await Self.onThread("request") { try exchange(method, path, body) }
    } catch { throw unreachable(error) }
    guard (200..<300).contains(status) else { throw refusal(bytes, status: status) }
    return try answer(bytes)
  }

  private func exchange(_ method: String, _ path: String, _ body: [UInt8]?) throws -> (status: Int, bytes: [UInt8]) {
    let connection = try ControlConnection(to: address, timeout: patience)
    try connection.send(method, path, body)
    var bytes: [UInt8] = []
    let status = try connection.answer(timeout: patience) { _, part in
      bytes += part
      return bytes.count <= Self.answerBytes
    }
    guard bytes.count <= Self.answerBytes else { throw ConnectionFailure("its answer is too large") }
    return (status, bytes)
  }

  /// Subscribes to the host's events. The stream contains everything that happens after this returns.
  ///
  /// - Parameter request: Selects only events of the request with this id.
  /// - Returns: The events until the host ends. They are read as they are taken: a reader that is slow for long misses some, and is told so.
  package func subscribe(request: String? = nil) async throws -> AsyncThrowingStream<ServerSentEvent, any Error> {
    let path = Self.path("/v1/stream", [("request", request)])
    do {
      let connection = try await Self.onThread("events") {
        let connection = try ControlConnection(to: address, timeout: patience)
        try connection.send("GET", path, nil)
        return connection
      }
      let feed = EventFeed(connection, self)
      try await feed.begin()
      return AsyncThrowingStream { try await feed.next() }
    } catch let error as CancellationError {
      throw error
    } catch { throw unreachable(error) }
  }

  /// The process that opened the host's socket, as the kernel numbers it here; 0 if it has no number here.
  package func peerProcess() async throws -> Int32 {
    try await Self.onThread("peer") { try ControlConnection(to: address, timeout: patience).peerProcess }
  }

  /// Runs a blocking `body` on its own thread.
  package static func onThread<Success: Sendable>(_ name: String, _ body: @escaping @Sendable () throws -> Success) async throws -> Success
  {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try HostThread.start(name) { continuation.resume(with: Result(catching: body)) }
      } catch { continuation.resume(throwing: error) }
    }
  }

  /// Reads the data of an event.
  package func answer(_ bytes: [UInt8]) throws -> Answer {
    do { return try Answer(bytes) } catch { throw unexpected("the answer is not JSON: \(error)") }
  }

  private func unexpected(_ why: String) -> TaskHostError {
    let what = if case .socket = address { "socket" } else { "address" }
    return TaskHostError(.unexpected, address.text, why, remedy: "check that the \(what) belongs to a host of this version")
  }

  /// The failure of who reads a stream that ended with the host.
  package var gone: TaskHostError {
    TaskHostError(.unreachable, address.text, "the host went away", remedy: "start it again: taskhost run")
  }

  /// Text as part of a path or a query.
  package static func escape(_ text: String) -> String { PercentEncoding.encode(text, keeping: "-._~") }

  /// A path with the parts of `query` that have a value.
  package static func path(_ path: String, _ query: [(name: String, value: String?)]) -> String {
    let parts = query.compactMap { name, value in value.map { "\(name)=\(escape($0))" } }
    return parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
  }

  func refusal(_ bytes: [UInt8], status: Int) -> TaskHostError {
    guard let error = try? Answer(bytes).read(ErrorAnswer.self).error else {
      return unexpected("the host answered with HTTP status \(status)")
    }
    return TaskHostError(.refused(status: status, code: error.code, field: error.field), nil, error.message)
  }

  /// Says what is wrong with the address; mentions `error` only if a socket looks fine.
  private func unreachable(_ error: any Error) -> TaskHostError {
    if let known = error as? TaskHostError { return known }
    func failure(_ why: String, _ remedy: String) -> TaskHostError { TaskHostError(.unreachable, address.text, why, remedy: remedy) }
    guard case .socket(let path) = address else {
      return failure("no host answers there: \(error)", "check the address, and the host's control.listen")
    }
    switch SocketFile.state(of: path) {
    case .absent: return failure("no host is running there", Self.start)
    case .stale: return failure("its host is gone", Self.start)
    case .other: return failure("is not a socket", Self.start)
    case .unknown(let reason): return failure(reason, "may you use this socket?")
    case .live: return failure("the host did not answer: \(error)", "try again; see its log")
    }
  }
}
