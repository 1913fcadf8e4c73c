import Glibc
import HTTPTypes
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization
public import TaskModel

/// Offers the control API over HTTP on a Unix socket.
///
/// In a service group it belongs before the host, so that it is shut down after it: clients see the host drain, and streams end with it.
public struct ControlServer: Service {
  /// Connections at once; more wait until one closes.
  public static let maximumConnections = 512

  private let host: any ControlledHost
  private let socket: ControlSocket
  private let logger: Logger
  private let now: @Sendable () -> WallTime
  private let onListening: @Sendable () async -> Void
  /// How long clients may take.
  var patience = ClientPatience()

  /// A server for `host`.
  ///
  /// - Parameters:
  ///   - now: What `delay_ms` counts from; the system's clock unless a test sets another.
  ///   - onListening: Called once clients can connect.
  public init(
    host: any ControlledHost, socket: ControlSocket, logger: Logger, now: @escaping @Sendable () -> WallTime = ControlServer.systemTime,
    onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.host = host
    self.socket = socket
    self.logger = logger
    self.now = now
    self.onListening = onListening
  }

  /// The system's wall clock.
  public static let systemTime: @Sendable () -> WallTime = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(unixMilliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Serves until a graceful shutdown or cancellation, and then removes the socket.
  ///
  /// - Throws: ``ControlSocketError`` when the socket cannot be offered.
  public func run() async throws {
    try socket.check()
    let directory = try PrivateSocketDirectory(for: socket)
    let publication = Publication()
    defer { publication.remove() }
    let server = try server(in: directory, publication)
    do {
      try await serve(server)
    } catch {
      throw publication.error ?? error
    }
    if let error = publication.error { throw error }
  }

  private func server(in directory: PrivateSocketDirectory, _ publication: Publication) throws -> any Service {
    let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
      maxHeaderFieldSize: 8192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100)
    let builder = HTTPServerBuilder.http1(
      configuration: HTTP1Channel.Configuration(idleTimeout: patience.idle, httpDecoderConfiguration: decoder))
    let responder = ControlResponder(
      host: host, now: now, bodies: BodyReader(budget: BodyBudget(bytes: BodyReader.bytesInAll), timeLimit: patience.body),
      eventWriteLimit: patience.eventWrite, logger: logger)
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    return try builder.buildServer(
      configuration: ServerConfiguration(
        address: .unixDomainSocket(path: directory.bindPath), backlog: 128, reuseAddress: false,
        availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections, logger: quiet)),
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet,
      responder: { [patience] request, writer, channel in
        let response = try await responder.respond(to: request, on: channel)
        let closes = response.headers[.connection] == "close"
        try await writer.write(response: response.head, body: response.body)
        // The rest of a body that was refused is read and dropped, so that the client sees the answer; but not for ever.
        if closes { channel.eventLoop.scheduleTask(in: patience.body) { channel.close(promise: nil) } }
      },
      onServerRunning: { [logger, socket, onListening] channel in
        if publication.publish(directory) {
          logger.info("control socket open", metadata: ["path": "\(socket.path)"])
          await onListening()
        } else {
          channel.close(promise: nil)
        }
      })
  }

  /// Runs `server`; once asked to end, answers in progress get a few seconds, then their connections are dropped.
  private func serve(_ server: any Service) async throws {
    let limit = patience.shutdown
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask {
        // Ends by cancellation when the server ends first.
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

  /// The socket's state, shared with the server's callback.
  private final class Publication: Sendable {
    private let state = Mutex<(socket: PublishedSocket?, error: ControlSocketError?)>((nil, nil))

    var error: ControlSocketError? { state.withLock { $0.error } }

    func publish(_ directory: PrivateSocketDirectory) -> Bool {
      do {
        let socket = try directory.publish()
        state.withLock { $0.socket = socket }
        return true
      } catch {
        state.withLock { $0.error = error }
        return false
      }
    }

    func remove() { state.withLock { $0.socket }?.remove() }
  }
}
