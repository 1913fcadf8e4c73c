import HTTPTypes
import HummingbirdCore
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// Offers the control API over HTTP on a Unix socket.
///
/// In a service group it belongs before the host, so that it is shut down after it: clients see the host drain, and streams end with it.
public struct ControlServer: Service {
  /// Connections at once. For one more, the one that has kept the host waiting longest is closed.
  public static let maximumConnections = 512
  /// How many of them are for the user that the host runs as, and root.
  public static let reservedConnections = 64

  /// Calls a function whenever the file at a path may have changed, from now on.
  public typealias Watch = @Sendable (_ path: String, _ changed: @escaping @Sendable () -> Void) -> Void

  private let host: any ControlledHost
  private let socket: ControlSocket
  private let logger: Logger
  private let watch: Watch
  private let onListening: @Sendable () async -> Void
  /// How long clients may take.
  var patience = ClientPatience()

  /// A server for `host`.
  ///
  /// - Parameters:
  ///   - watch: Called once clients can connect, so that a socket whose file is removed comes back.
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

  /// Serves until a graceful shutdown or cancellation, and then removes the socket.
  ///
  /// - Throws: ``ControlSocketError`` when the socket cannot be offered.
  public func run() async throws {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    let server = try KeptServer(socket, watch: watch, logger: quiet, make: maker(quiet))
    do {
      try await serve(server)
    } catch {
      throw server.wasOffered ? error : server.problem ?? error
    }
    if !server.wasOffered, let problem = server.problem { throw problem }
  }

  /// How servers are made: they share what they count and keep.
  private func maker(_ quiet: Logger) -> KeptServer.Make {
    let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
      maxHeaderFieldSize: 8192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100)
    let connections = ConnectionTable(maximum: Self.maximumConnections, reserve: Self.reservedConnections)
    let builder = HTTPServerBuilder.http1(
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionInstaller(connections, patience)], httpDecoderConfiguration: decoder))
    let responder = ControlResponder(
      host: host, bodies: BodyReader(),
      events: EventBacklog(linger: patience.eventLinger) { [host] in host.observe($0) }, logger: logger)
    return { [logger, socket, onListening] path, listening in
      try builder.buildServer(
        configuration: ServerConfiguration(address: .unixDomainSocket(path: path), backlog: Self.maximumConnections, reuseAddress: false),
        eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet,
        responder: { request, writer, _ in
          let response = try await responder.respond(to: request)
          try await writer.write(response: response.head, body: response.body)
        },
        onServerRunning: { channel in
          guard listening() else { return channel.close(promise: nil) }
          logger.info("control socket open", metadata: ["path": "\(socket.path)"])
          await onListening()
        })
    }
  }

  /// Runs `server`; once asked to end, answers in progress get a few seconds, then their connections are dropped.
  private func serve(_ server: KeptServer) async throws {
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
}
