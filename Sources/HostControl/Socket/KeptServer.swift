import Logging
import ServiceLifecycle
import Synchronization

/// Keeps a server available at a socket's path.
///
/// A removed socket file is restored. If its directory is removed, the socket is lost: a new server takes over as soon as the directory
/// exists again. The old server still answers its clients.
final class KeptServer: Service {
  /// Makes a server that listens at `address` and then calls `listening`; if that returns false, the server ends.
  typealias Make = @Sendable (_ address: HTTPServer.Address, _ listening: @escaping @Sendable () -> Bool) throws -> any Service

  private let socket: ControlSocket
  private let first: OfferedServer
  private let present: Mutex<OfferedServer>
  private let renewal: SocketRenewal
  /// Whether a new server is about to take over.
  private let isReplacing = Mutex(false)
  private let make: Make
  private let watch: ControlServer.Watch
  private let logger: Logger
  /// Yields when the socket may be lost; ends with the server.
  private let losses: AsyncStream<Void>
  private let lost: AsyncStream<Void>.Continuation

  /// - Throws: If the socket cannot be offered.
  init(_ socket: ControlSocket, watch: @escaping ControlServer.Watch, logger: Logger, make: @escaping Make) throws(ControlSocketError) {
    self.socket = socket
    self.make = make
    self.watch = watch
    self.logger = logger
    first = try Self.offer(socket)
    present = Mutex(first)
    renewal = SocketRenewal(of: socket.path, name: "the control socket", watch: watch, log: logger)
    (losses, lost) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  private static func offer(_ socket: ControlSocket) throws(ControlSocketError) -> OfferedServer {
    try socket.check()
    return OfferedServer(try PrivateSocketDirectory(for: socket))
  }

  private var current: OfferedServer { present.withLock { $0 } }

  /// Whether clients could ever connect.
  var wasOffered: Bool { first.isOffered }
  /// Why they could not; nil if the socket is not the reason.
  var problem: ControlSocketError? { first.offer.problem }

  /// Serves until a graceful shutdown, then removes the socket.
  func run() async throws {
    defer { current.offer.withdraw() }
    try await withThrowingTaskGroup(of: Void.self) { servers in
      servers.addTask { try await self.serve(self.first) }
      for await _ in losses {
        guard let next = renewed() else { continue }
        servers.addTask { await self.replace(with: next) }
      }
      try await servers.waitForAll()
    }
  }

  private func serve(_ server: OfferedServer) async throws {
    // A replaced server may end.
    defer { if current === server { lost.finish() } }
    try await server.run(try make(.unix(server.bindPath)) { self.publish(server) }, logger)
  }

  private func publish(_ server: OfferedServer) -> Bool {
    guard server.publish() else { return false }
    let before = present.withLock { present in
      defer { present = server }
      return present
    }
    renewal.begin()
    isReplacing.withLock { $0 = false }
    if before === server {
      watch(socket.path) { self.look() }
      // The file may have been removed before the watch began.
      look()
    } else {
      before.retire()
      defer { look() }
      renewal.succeed()
    }
    return true
  }

  /// Called when the file at the path, or its directory, may have changed.
  private func look() {
    // The new server may be at the path already; its socket is checked after it has taken over.
    guard !isReplacing.withLock({ $0 }) else { return }
    if renewal.look(at: current.offer) { lost.yield() }
  }

  // MARK: A directory that is gone

  /// The server that takes over; nil if none is needed or none can be made yet.
  private func renewed() -> OfferedServer? {
    guard current.offer.isLost, !isReplacing.withLock({ $0 }) else { return nil }
    do throws(ControlSocketError) {
      let next = try Self.offer(socket)
      isReplacing.withLock { $0 = true }
      return next
    } catch {
      fail(error)
      return nil
    }
  }

  private func replace(with next: OfferedServer) async {
    var failure: (any Error)?
    do { try await serve(next) } catch { failure = error }
    guard !next.isOffered else { return }
    isReplacing.withLock { $0 = false }
    if let failure = next.offer.problem ?? failure { fail(failure) }
  }

  private func fail(_ error: any Error) { renewal.fail(error, changed: { self.look() }, retry: { [lost] in lost.yield() }) }
}
