public import Logging
public import ServiceLifecycle

/// Serves the control API over HTTP on a Unix socket.
///
/// In a service group, put it before the host, so that it shuts down after the host: clients see it drain, and streams end with it.
public struct ControlServer: Service {
  /// Connections at once. At the limit, a new connection replaces the one that has kept the host waiting longest.
  public static let maximumConnections = 512
  /// How many of these are reserved for root and the host's own user.
  public static let reservedConnections = 64

  /// Calls `changed` from now on whenever the file at `path` may have changed.
  public typealias Watch = @Sendable (_ path: String, _ changed: @escaping @Sendable () -> Void) -> Void

  private let host: any ControlledHost
  private let socket: ControlSocket
  private let logger: Logger
  private let watch: Watch
  private let onListening: @Sendable () async -> Void
  var patience = ClientPatience()

  /// Creates a server for `host`.
  ///
  /// - Parameters:
  ///   - watch: Called once clients can connect, so that a removed socket file can be restored.
  ///   - onListening: Called once clients can connect.
  public init(
    host: any ControlledHost, socket: ControlSocket, logger: Logger,
    watch: @escaping Watch = { _, _ in }, onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.host = host
    self.socket = socket
    self.logger = logger
    self.watch = watch
    self.onListening = onListening
  }

  /// Serves until a graceful shutdown or cancellation, then removes the socket.
  ///
  /// - Throws: ``ControlSocketError`` when the socket cannot be offered.
  public func run() async throws {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    let server = try KeptServer(socket, watch: watch, logger: quiet, make: maker())
    do {
      try await serve(server)
    } catch {
      throw server.wasOffered ? error : server.problem ?? error
    }
    if !server.wasOffered, let problem = server.problem { throw problem }
  }

  /// Makes servers that share counts and events.
  private func maker() -> KeptServer.Make {
    let table = ConnectionTable(maximum: Self.maximumConnections, reserve: Self.reservedConnections)
    let budget = BodyBudget()
    let events = EventBacklog(linger: patience.eventLinger) { [host] in host.observe($0) }
    let responder = ControlResponder(host: host, events: events, logger: logger)
    return { [logger, socket, patience, onListening] path, listening in
      HTTPServer(path: path, table: table, patience: patience, budget: budget, responder: responder) {
        guard listening() else { return false }
        logger.info("control socket open", metadata: ["path": "\(socket.path)"])
        await onListening()
        return true
      }
    }
  }

  /// Runs `server`. Once asked to end, it gives answers in progress a few seconds, then drops their connections.
  private func serve(_ server: KeptServer) async throws {
    let limit = patience.shutdown
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask {
        // Ends by cancellation if the server ends first.
        guard (try? await gracefulShutdown()) != nil else { return try await Self.waitForCancellation() }
        try await Task.sleep(for: limit)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private static func waitForCancellation() async throws {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    defer { continuation.finish() }
    for await _ in stream {}
  }
}
