import HostControl
import HostThreads
import StrictText
import TaskModel

/// A client of a host's control socket.
struct ControlClient: Sendable {
  /// The maximum wait for an answer.
  private static let timeout = Duration.seconds(60)
  /// The maximum size of an answer in bytes, enough for a listing of 10,000 rows.
  private static let answerBytes = 256 * 1_048_576
  /// The maximum size in bytes of a refusal to stream events.
  private static let refusalBytes = 65_536

  /// The socket's path. Each call makes its own connection.
  let socket: String
  /// How refusals name what the command gave.
  var names = OptionNames.submit

  func get(_ path: String) async throws -> Answer { try await send("GET", path) }

  func post(_ path: String, _ body: [UInt8]? = nil) async throws -> Answer { try await send("POST", path, body) }

  /// Sends a request, perhaps with a JSON body, and reads the answer. Throws if the host answers with an error.
  func send(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Answer {
    let (status, bytes): (Int, [UInt8])
    do {
      (status, bytes) = try await withCheckedThrowingContinuation { continuation in
        onThread("request", { continuation.resume(with: $0) }) { try exchange(method, path, body) }
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
  func subscribe(request: String? = nil) async throws -> AsyncThrowingStream<ServerSentEvent, any Error> {
    let path = Self.path("/v1/stream", [("request", request)])
    let (stream, continuation) = AsyncThrowingStream<ServerSentEvent, any Error>.makeStream()
    onThread("events", { if case .failure(let error) = $0 { continuation.finish(throwing: error) } else { continuation.finish() } }) {
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

  /// What to wait on for the end of the host's process; nil if it cannot be seen from here.
  func hostEnd() async throws -> HostEnd? {
    let process = try await get("/v1/status").read(StatusAnswer.self).processId
    return try await withCheckedThrowingContinuation { continuation in
      onThread("peer", { continuation.resume(with: $0) }) {
        HostEnd(process: process, peer: try ControlConnection(to: socket, timeout: Self.timeout).peerProcess)
      }
    }
  }

  /// Returns once the host's process has ended.
  func wait(for end: HostEnd) async throws {
    try await withCheckedThrowingContinuation { continuation in
      onThread("host-end", { continuation.resume(with: $0) }) { end.wait() }
    }
  }

  /// Runs a blocking `body` on its own thread.
  private func onThread<Success: Sendable>(
    _ name: String, _ end: @escaping @Sendable (Result<Success, any Error>) -> Void, _ body: @escaping @Sendable () throws -> Success
  ) {
    do {
      try HostThread.start(name) { end(Result(catching: body)) }
    } catch { end(.failure(error)) }
  }

  /// Reads the data of an event.
  func answer(_ bytes: [UInt8]) throws -> Answer {
    do { return try Answer(bytes) } catch {
      throw CommandFailure(
        .refused, socket, "the answer is not JSON: \(error)", remedy: "check that the socket belongs to a host of this version")
    }
  }

  /// The failure of a command whose stream ended with the host.
  var gone: CommandFailure { CommandFailure(.noHost, socket, "the host went away", remedy: "start it again: taskhost run") }

  /// Text as part of a path or a query.
  static func escape(_ text: String) -> String { PercentEncoding.encode(text, keeping: "-._~") }

  /// A path with the parts of `query` that have a value.
  static func path(_ path: String, _ query: [(name: String, value: String?)]) -> String {
    let parts = query.compactMap { name, value in value.map { "\(name)=\(escape($0))" } }
    return parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
  }

  private func refusal(_ bytes: [UInt8], status: Int) -> CommandFailure {
    guard let answer = try? Answer(bytes).read(ErrorAnswer.self) else {
      return CommandFailure(
        .refused, socket, "the host answered with HTTP status \(status)", remedy: "check that the socket belongs to a host of this version")
    }
    return CommandFailure(.refused, nil, names.sentence(answer.error.message, about: answer.error.field))
  }

  /// Says what is wrong with the socket; mentions `error` only if the socket looks fine.
  private func unreachable(_ error: any Error) -> CommandFailure {
    if let failure = error as? CommandFailure { return failure }
    let start = "start one: taskhost run, or name its socket: --socket PATH"
    switch SocketFile.state(of: socket) {
    case .absent: return CommandFailure(.noHost, socket, "no host is running there", remedy: start)
    case .stale: return CommandFailure(.noHost, socket, "its host is gone", remedy: start)
    case .other: return CommandFailure(.noHost, socket, "is not a socket", remedy: start)
    case .unknown(let reason): return CommandFailure(.noHost, socket, reason, remedy: "may you use this socket?")
    case .live: return CommandFailure(.noHost, socket, "the host did not answer: \(error)", remedy: "try again; see its log")
    }
  }
}
