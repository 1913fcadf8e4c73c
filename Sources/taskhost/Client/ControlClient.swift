import TaskHostClient
import TaskModel

/// A client of a host for commands: their failures name options instead of members.
struct ControlClient: Sendable {
  private(set) var caller: ControlCaller
  /// How refusals name what the command gave.
  let names: OptionNames

  init(_ address: ControlAddress, names: OptionNames) {
    caller = ControlCaller(address)
    self.names = names
  }

  /// The same client, with a limit for the wait for an answer.
  func waiting(atMost patience: Duration) -> Self {
    var client = self
    client.caller.patience = patience
    return client
  }

  func get(_ path: String) async throws -> Answer { try await send("GET", path) }

  func post(_ path: String, _ body: [UInt8]? = nil) async throws -> Answer { try await send("POST", path, body) }

  /// Sends a request, perhaps with a JSON body, and reads the answer. Throws if the host answers with an error.
  func send(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Answer {
    do { return try await caller.send(method, path, body) } catch let error as TaskHostError { throw CommandFailure(error, names) }
  }

  /// Subscribes to the host's events. The stream contains everything that happens after this returns.
  ///
  /// - Parameter request: Selects only events of the request with this id.
  func subscribe(request: String? = nil) async throws -> AsyncThrowingStream<ServerSentEvent, any Error> {
    do { return try await caller.subscribe(request: request) } catch let error as TaskHostError { throw CommandFailure(error, names) }
  }

  /// What to wait on for the end of the host's process; nil if it cannot be seen from here.
  func hostEnd() async throws -> HostEnd? {
    let process = try await get("/v1/status").read(StatusAnswer.self).processId
    return HostEnd(process: process, peer: try await caller.peerProcess())
  }

  /// Returns once the host's process has ended.
  func wait(for end: HostEnd) async throws {
    try await ControlCaller.onThread("host-end") { end.wait() }
  }

  /// Reads the data of an event.
  func answer(_ bytes: [UInt8]) throws -> Answer { try caller.answer(bytes) }

  /// The failure of a command whose stream ended with the host.
  var gone: CommandFailure { CommandFailure(caller.gone, names) }

  /// Text as part of a path or a query.
  static func escape(_ text: String) -> String { ControlCaller.escape(text) }

  /// A path with the parts of `query` that have a value.
  static func path(_ path: String, _ query: [(name: String, value: String?)]) -> String { ControlCaller.path(path, query) }
}

extension CommandFailure {
  /// A client's error, in the words of the command line.
  init(_ error: TaskHostError, _ names: OptionNames = .submit) {
    let remedy = error.remedy == ControlCaller.start ? "\(ControlCaller.start): --socket PATH" : error.remedy
    switch error.kind {
    case .unreachable: self.init(.noHost, error.what, error.why, remedy: remedy)
    case .refused(_, _, let field): self.init(.refused, error.what, names.sentence(error.why, about: field), remedy: remedy)
    case .invalid: self.init(.usage, error.what, error.why, remedy: remedy)
    case .timedOut, .interrupted: self.init(.failed, error.what, error.why, remedy: remedy)
    case .unexpected: self.init(.refused, error.what, error.why, remedy: remedy)
    }
  }
}

extension OccurrenceFollower.End {
  /// The exit code of a command that waited for it.
  var status: ExitStatus {
    switch self {
    case .succeeded: .done
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }
}
