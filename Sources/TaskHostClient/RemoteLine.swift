import Glibc
import HostThreads
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TaskModel

/// A connection to a host over TCP, perhaps with TLS.
final class RemoteLine: ByteLine {
  /// More than this is left in the system's buffers until it is read.
  private static let mostUnread = 1 << 20

  fileprivate struct State: Sendable {
    var bytes: [UInt8] = []
    /// Whether requests may be sent: TLS has begun, or is not spoken.
    var isReady: Bool
    var hasEnded = false
    /// Why it ended; nil if it ended in order.
    var flaw: String?
    var isHeldBack = false
  }

  private let channel: any Channel
  private let arrivals: Guarded<State>
  private let timeout: Duration

  /// Connects, and begins TLS.
  ///
  /// - Parameter timeout: The maximum wait for both, and for the host to take a request.
  init(to remote: RemoteHost, timeout: Duration) throws(ConnectionFailure) {
    let arrivals = Guarded(State(isReady: remote.tls == nil))
    (self.arrivals, self.timeout) = (arrivals, timeout)
    let deadline = SystemClock.now + timeout
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(.nanoseconds(timeout.wholeNanoseconds))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls = remote.tls {
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: remote.isNumber ? nil : remote.host))
          }
          try pipeline.addHandler(Handler(arrivals))
        }
      }
    do { channel = try bootstrap.connect(host: remote.host, port: remote.port).wait() } catch {
      throw ConnectionFailure(Self.words(error))
    }
    let begun = arrivals.wait(until: deadline) { state -> State? in state.isReady || state.hasEnded ? state : nil }
    guard let begun, begun.isReady else {
      channel.close(promise: nil)
      throw begun.map { ConnectionFailure($0.flaw ?? "it closed the connection") } ?? .late
    }
  }

  deinit { channel.close(promise: nil) }

  func write(_ bytes: [UInt8]) throws(ConnectionFailure) {
    let late = channel.eventLoop.scheduleTask(in: .nanoseconds(timeout.wholeNanoseconds)) { [channel] in channel.close(promise: nil) }
    defer { late.cancel() }
    // What fails is told by the answer, or by the end of the connection.
    try? channel.writeAndFlush(ByteBuffer(bytes: bytes)).wait()
  }

  func read(until deadline: MonotonicTime?) throws(ConnectionFailure) -> [UInt8] {
    let found = arrivals.wait(until: deadline ?? .distantFuture) { state -> (bytes: [UInt8], flaw: String?, wasHeldBack: Bool)? in
      guard !state.bytes.isEmpty || state.hasEnded else { return nil }
      defer {
        state.bytes = []
        state.isHeldBack = false
      }
      return (state.bytes, state.flaw, state.isHeldBack)
    }
    guard let found else { throw .late }
    if found.wasHeldBack { channel.setOption(.autoRead, value: true).whenComplete { _ in } }
    if found.bytes.isEmpty, let flaw = found.flaw { throw ConnectionFailure(flaw) }
    return found.bytes
  }

  func interrupt() { channel.close(promise: nil) }

  /// What went wrong, a clause.
  fileprivate static func words(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first?.error { return words(first) }
      return "\(error.host.prefix(200)) has no address"
    case let error as IOError: return String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout: return "no connection could be made in time"
    case NIOSSLError.handshakeFailed(let cause):
      let text = "\(cause)"
      if text.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not trusted here, or has ended" }
      return "TLS could not begin: \(text.prefix(300))"
    case NIOSSLError.unableToValidateCertificate: return "its certificate is for another name"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname: return "its certificate is for another name"
    default: return "\(error)"
    }
  }

  /// Used on the connection's event loop only.
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let arrivals: Guarded<State>

    init(_ arrivals: Guarded<State>) { self.arrivals = arrivals }

    private func change(_ change: (inout State) -> Void) {
      arrivals.withLock { change(&$0) }
      arrivals.broadcast()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = Array(unwrapInboundIn(data).readableBytesView)
      var holdsBack = false
      change { state in
        state.bytes += bytes
        holdsBack = state.bytes.count > RemoteLine.mostUnread && !state.isHeldBack
        if holdsBack { state.isHeldBack = true }
      }
      if holdsBack { context.channel.setOption(.autoRead, value: false).whenComplete { _ in } }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { change { $0.isReady = true } }
      context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
      change { $0.hasEnded = true }
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      let words = RemoteLine.words(error)
      change { state in
        // A host that closes without TLS's farewell has said all that it had to say, if its answer is complete.
        if case NIOSSLError.uncleanShutdown? = error as? NIOSSLError { return }
        state.flaw = state.flaw ?? words
      }
      context.close(promise: nil)
    }
  }
}
