import HostThreads
import StrictText
import TaskModel

/// Calls the routes of a host.
package struct ControlCaller: Sendable {
  /// The maximum wait for an answer.
  private static let timeout = Duration.seconds(60)
  /// The maximum size of an answer in bytes, enough for a listing of 10,000 rows.
  private static let answerBytes = 256 * 1_048_576
  /// The maximum size in bytes of a refusal to stream events.
  private static let refusalBytes = 65_536
  /// What to do where no host is.
  package static let start = "start one: taskhost run, or name its socket"

  /// The path of the host's control socket. Each call makes its own connection.
  package let socket: String

  package init(socket: String) { self.socket = socket }

  /// Sends a request, perhaps with a JSON body, and reads the answer. Throws if the host answers with an error.
  package func send(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Answer {
    let (status, bytes): (Int, [UInt8])
    do {
      (status, bytes) = try await withCheckedThrowingContinuation { continuation in
        Self.onThread("request", { continuation.resume(with: $0) }) { try exchange(method, path, body) }
      }
    } catch { throw unreachable(error) }
    guard (200..<300).contains(status) else { throw refusal(bytes, status: status) }
    return try answer(bytes)
  }

  private func exchange(_ method: String, _ path: String, _ body: [UInt8]?) throws -> (status: Int, bytes: [UInt8]) {
    let connection = try ControlConnection(to: socket, timeout: Self.timeout)
    try connection.send(method, path, body)
    var bytes: [UInt8] = []
    let status = try connection.answer(timeout: Self.timeout) { _, part in
      bytes += part
      return bytes.count <= Self.answerBytes
    }
    guard bytes.count <= Self.answerBytes else { throw ControlConnection.Failure(description: "its answer is too large") }
    return (status, bytes)
  }

  /// Subscribes to the host's events. The stream contains everything that happens after this returns.
  ///
  /// - Parameter request: Selects only events of the request with this id.
  /// - Returns: The events until the host ends. A thread reads them for the life of the process.
  package func subscribe(request: String? = nil) async throws -> AsyncThrowingStream<ServerSentEvent, any Error> {
    let path = Self.path("/v1/stream", [("request", request)])
    let (stream, continuation) = AsyncThrowingStream<ServerSentEvent, any Error>.makeStream()
    Self.onThread("events", { if case .failure(let error) = $0 { continuation.finish(throwing: error) } else { continuation.finish() } }) {
      let connection = try ControlConnection(to: socket, timeout: Self.timeout)
      try connection.send("GET", path, nil)
      var (parser, refused) = (ServerSentEventParser(), [UInt8]())
      let status = try connection.answer(timeout: nil) { status, part in
        if status == 200 { for event in parser.feed(part) { continuation.yield(event) } } else { refused += part }
        return refused.count <= Self.refusalBytes
      }
      if status != 200 { throw refusal(refused, status: status) }
    }
    do {
      for try await event in stream {
        if case .comment = event { return stream }
      }
    } catch { throw unreachable(error) }
    throw gone
  }

  /// The process that opened the host's socket, as the kernel numbers it here; 0 if it has no number here.
  package func peerProcess() async throws -> Int32 {
    try await withCheckedThrowingContinuation { continuation in
      Self.onThread("peer", { continuation.resume(with: $0) }) {
        try ControlConnection(to: socket, timeout: Self.timeout).peerProcess
      }
    }
  }

  /// Runs a blocking `body` on its own thread.
  package static func onThread<Success: Sendable>(
    _ name: String, _ end: @escaping @Sendable (Result<Success, any Error>) -> Void, _ body: @escaping @Sendable () throws -> Success
  ) {
    do {
      try HostThread.start(name) { end(Result(catching: body)) }
    } catch { end(.failure(error)) }
  }

  /// Reads the data of an event.
  package func answer(_ bytes: [UInt8]) throws -> Answer {
    do { return try Answer(bytes) } catch {
      throw TaskHostError(
        .unexpected, socket, "the answer is not JSON: \(error)", remedy: "check that the socket belongs to a host of this version")
    }
  }

  /// The failure of who reads a stream that ended with the host.
  package var gone: TaskHostError { TaskHostError(.unreachable, socket, "the host went away", remedy: "start it again: taskhost run") }

  /// Text as part of a path or a query.
  package static func escape(_ text: String) -> String { PercentEncoding.encode(text, keeping: "-._~") }

  /// A path with the parts of `query` that have a value.
  package static func path(_ path: String, _ query: [(name: String, value: String?)]) -> String {
    let parts = query.compactMap { name, value in value.map { "\(name)=\(escape($0))" } }
    return parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
  }

  private func refusal(_ bytes: [UInt8], status: Int) -> TaskHostError {
    guard let error = try? Answer(bytes).read(ErrorAnswer.self).error else {
      return TaskHostError(
        .unexpected, socket, "the host answered with HTTP status \(status)",
        remedy: "check that the socket belongs to a host of this version")
    }
    return TaskHostError(.refused(status: status, code: error.code, field: error.field), nil, error.message)
  }

  /// Says what is wrong with the socket; mentions `error` only if the socket looks fine.
  private func unreachable(_ error: any Error) -> TaskHostError {
    if let known = error as? TaskHostError { return known }
    func failure(_ why: String, _ remedy: String) -> TaskHostError { TaskHostError(.unreachable, socket, why, remedy: remedy) }
    switch SocketFile.state(of: socket) {
    case .absent: return failure("no host is running there", Self.start)
    case .stale: return failure("its host is gone", Self.start)
    case .other: return failure("is not a socket", Self.start)
    case .unknown(let reason): return failure(reason, "may you use this socket?")
    case .live: return failure("the host did not answer: \(error)", "try again; see its log")
    }
  }
}
