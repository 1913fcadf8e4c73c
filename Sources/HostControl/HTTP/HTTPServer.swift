import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization

/// Serves HTTP/1.1 on a Unix socket or over TCP.
struct HTTPServer: Service {
  /// Largest head of a request.
  static let headBytes = 16_384
  private static let limits = {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 8192
    limits.maxHeaderListSize = headBytes
    limits.maxHeaderFieldCount = 100
    return limits
  }()

  /// Where to listen.
  enum Address: Sendable {
    /// A Unix socket; one that is there is replaced.
    case unix(String)
    case tcp(host: String, port: Int)
    /// A Unix socket that listens already, which the service manager keeps: clients connect to it before and after, and are waited for.
    case passed(descriptor: Int32)
  }

  private static let loops = MultiThreadedEventLoopGroup.singleton

  let address: Address
  /// Who comes in over TCP; nil on a Unix socket, where the file's mode decides.
  var door: RemoteDoor?
  /// The certificate of a server that speaks only TLS; nil if nothing is encrypted.
  var certificate: CertificateKeeper?
  let table: ConnectionTable
  let patience: ClientPatience
  let budget: BodyBudget
  let responder: ControlResponder
  /// Called with the port once clients can connect; false ends the server.
  let listening: @Sendable (_ port: Int?) async -> Bool

  /// Serves until a graceful shutdown, which lets responses in progress end, or until it is cancelled, which drops them.
  func run() async throws {
    let open = OpenConnections()
    let bootstrap = ServerBootstrap(group: Self.loops)
      .serverChannelOption(.backlog, value: Int32(ControlServer.maximumConnections))
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try install(on: channel)
          open.add(channel)
        }
      }
    let channel =
      switch address {
      case .unix(let path): try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
      case .tcp(let host, let port): try await bootstrap.bind(host: host, port: port).get()
      case .passed(let descriptor): try await bootstrap.withBoundSocket(descriptor).get()
      }
    // Closing the channel removes the socket, so a server that is asked to end meanwhile still offers it first.
    let progress = Mutex((isOffered: false, isEnding: false))
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        let isWanted = await listening(channel.localAddress?.port)
        let isEnding = progress.withLock { progress in
          progress.isOffered = true
          return progress.isEnding
        }
        if isEnding || !isWanted { Self.endListening(channel) }
        if isEnding { open.end() }
        try? await channel.closeFuture.get()
        try? await open.drained(on: channel.eventLoop).get()
      } onGracefulShutdown: {
        let isOffered = progress.withLock { progress in
          progress.isEnding = true
          return progress.isOffered
        }
        guard isOffered else { return }
        Self.endListening(channel)
        open.end()
      }
    } onCancel: {
      channel.close(promise: nil)
      open.close()
    }
  }

  /// Accepts no further connections, then closes the socket. NIO drops what is still being set up on its own thread when the socket closes.
  private static func endListening(_ channel: any Channel) {
    channel.setOption(.autoRead, value: false).flatMap {
      EventLoopFuture.andAllComplete(loops.makeIterator().map { $0.submit {} }, on: channel.eventLoop)
    }.whenComplete { _ in channel.close(promise: nil) }
  }

  /// The clock sits right behind the parser, so that it also sees requests that the pipelining handler holds back. TLS comes before all of it:
  /// a connection has its place and its time from the first packet on, whether it shakes hands or not.
  private func install(on channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false,
      withEncoderConfiguration: HTTPResponseEncoder.Configuration(), withDecoderLimitConfiguration: Self.limits)
    let connection = ConnectionHandler(table, patience, isLocal: door == nil)
    if case .passed = address { connection.awaitsFirstRequest = patience.lastRequest }
    let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    try pipeline.addHandler(connection, position: .after(parser))
    try pipeline.addHandler(ArrivalHandler(connection), position: .first)
    try pipeline.addHandler(RequestHandler(responder, budget, ConnectionEntrance(door, connection), on: channel.eventLoop))
    guard let certificate else { return }
    try pipeline.addHandler(HandshakeHandler(certificate.handshakes), position: .first)
    try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context), position: .first)
    try pipeline.addHandler(PlaintextHandler(certificate.handshakes), position: .first)
  }
}
