import Glibc
import HostThreads
public import Logging
public import RecordJSON
public import ServiceLifecycle

/// Serves the control API over HTTP on a Unix socket, and over TCP if it is asked to.
///
/// In a service group, put it before the host, so that it shuts down after the host: clients see it drain, and streams end with it.
public struct ControlServer: Service {
  /// Connections at once: at most half of the descriptors that the process may have, so that the host keeps some for itself. At the limit, a
  /// new connection replaces the one that has kept the host waiting longest.
  public static let maximumConnections = min(2048, descriptors / 2)
  /// How many of these are reserved for root and the host's own user.
  public static let reservedConnections = min(64, maximumConnections / 2)

  private static var descriptors: Int {
    var limits = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return 1024 }
    return Int(clamping: limits.rlim_cur)
  }

  /// Calls `changed` from now on whenever the file at `path` may have changed.
  public typealias Watch = @Sendable (_ path: String, _ changed: @escaping @Sendable () -> Void) -> Void

  private let host: any ControlledHost
  private let socket: ControlSocket
  private let passed: Int32?
  private let remote: RemoteAccess?
  private let audit: AuditLog?
  private let redacting: @Sendable () -> PayloadRedaction
  private let logger: Logger
  private let watch: Watch
  private let onListening: @Sendable () async -> Void
  /// Called with the port once clients can connect over TCP, before they can connect to the socket.
  var onRemoteListening: @Sendable (_ port: Int) -> Void = { _ in }
  var patience = ClientPatience()

  /// Creates a server for `host`.
  ///
  /// - Parameters:
  ///   - passed: The socket, if a service manager has made it and passes it. It stays where it is when the server ends.
  ///   - remote: How clients reach the host over TCP; nil if they do not.
  ///   - auditDirectory: Where changes are recorded; nil: nowhere.
  ///   - redaction: What nobody sees of payloads; evaluated for each answer.
  ///   - watch: Called once clients can connect, so that a removed socket file can be restored.
  ///   - onListening: Called once clients can connect.
  public init(
    host: any ControlledHost, socket: ControlSocket, passed: Int32? = nil, remote: RemoteAccess? = nil, auditDirectory: String? = nil,
    redaction: @autoclosure @escaping @Sendable () -> PayloadRedaction = PayloadRedaction(), logger: Logger,
    watch: @escaping Watch = { _, _ in }, onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.host = host
    (self.socket, self.passed) = (socket, passed)
    (self.remote, redacting) = (remote, redaction)
    audit = auditDirectory.map { AuditLog(in: $0, logger: logger) }
    self.logger = logger
    self.watch = watch
    self.onListening = onListening
  }

  /// Records a reload that no client has asked for. Returns once that is written.
  ///
  /// - Parameters:
  ///   - changes: What has changed, in a few words.
  ///   - reason: Why the host was reloaded, for people.
  public func recordReload(of changes: String, because reason: String) async {
    await audit?.record(AuditEntry(reloaded: changes, because: reason, at: SystemClock().wallTime))
  }

  /// Serves until a graceful shutdown or cancellation, then removes the socket.
  ///
  /// - Throws: ``ControlSocketError`` when the socket cannot be offered, ``RemoteAccessError`` or ``TokenFileError`` when TCP cannot.
  public func run() async throws {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    let host = RedactedHost(host, redacting)
    var responder = ControlResponder(
      host: host, events: EventBacklog(linger: patience.eventLinger) { host.observe($0) }, logger: logger)
    defer { audit?.finish() }
    responder.audit = audit
    responder.names = remote?.names.map { $0.lowercased() } ?? []
    responder.handshakes = remote?.certificate?.handshakes
    let listener = try remote.map { try RemoteListener($0, responder, patience, logger: logger, onListening: onRemoteListening) }
    if let remote, let listener { watch(remote.tokenFile) { listener.tokens.reload() } }
    if let certificate = remote?.certificate {
      for file in [certificate.files.certificate, certificate.files.key] { watch(file) { certificate.reload() } }
    }
    if let passed {
      try socket.adopt(passed)
      return try await serve(listener, maker(responder)(.passed(descriptor: passed)) { true })
    }
    let server = try KeptServer(socket, watch: watch, logger: quiet, make: maker(responder))
    do {
      try await serve(listener, server)
    } catch let error as RemoteAccessError {
      throw error
    } catch {
      throw server.wasOffered ? error : server.problem ?? error
    }
    if !server.wasOffered, let problem = server.problem { throw problem }
  }

  /// Makes servers that share counts and events.
  private func maker(_ responder: ControlResponder) -> KeptServer.Make {
    let table = ConnectionTable(maximum: Self.maximumConnections, reserve: Self.reservedConnections)
    let budget = BodyBudget()
    return { [logger, socket, patience, onListening] address, listening in
      HTTPServer(address: address, table: table, patience: patience, budget: budget, responder: responder) { _ in
        guard listening() else { return false }
        logger.info("control socket open", metadata: ["path": "\(socket.path)"])
        await onListening()
        return true
      }
    }
  }

  /// Runs `server`. Once asked to end, it gives answers in progress a few seconds, then drops their connections.
  private func serve(_ listener: RemoteListener?, _ server: any Service) async throws {
    let limit = patience.shutdown
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        guard let listener else { return try await server.run() }
        try await listener.run { try await server.run() }
      }
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
