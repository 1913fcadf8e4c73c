import Logging
import ServiceLifecycle
import Synchronization

/// The server that clients find at a socket's path.
///
/// A socket whose file is removed is put back. When the path's directory goes with all that is in it, nothing is left to put back: then another
/// server takes the place of this one, as soon as there is a directory again. Whoever is connected to the one before gets an answer.
final class KeptServer: Sendable {
  /// Makes a server that listens at `path`, and calls `listening` once it does; where that returns false it ends.
  typealias Make = @Sendable (_ path: String, _ listening: @escaping @Sendable () -> Bool) throws -> any Service

  private let socket: ControlSocket
  private let first: OfferedServer
  private let present: Mutex<OfferedServer>
  private let renewal: SocketRenewal
  /// Whether another server is on its way to the path.
  private let isReplacing = Mutex(false)
  private let make: Make
  private let watch: ControlServer.Watch
  private let logger: Logger
  /// Something comes when the socket may be lost; it ends with the server.
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

  /// Whether clients could connect at all.
  var wasOffered: Bool { first.isOffered }
  /// Why they could not; nil if the socket is not the reason.
  var problem: ControlSocketError? { first.offer.problem }

  /// Serves until a graceful shutdown, and then removes the socket.
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
    // One that another has taken the place of may end.
    defer { if current === server { lost.finish() } }
    try await server.run(try make(server.bindPath) { self.publish(server) }, logger)
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
      // What was removed before it was watched is missed otherwise.
      look()
    } else {
      before.retire()
      defer { look() }
      renewal.succeed()
    }
    return true
  }

  /// The file at the path, or its directory, may have changed.
  private func look() {
    // What is at the path now may be the other one already; it is looked at when that has its place.
    guard !isReplacing.withLock({ $0 }) else { return }
    if renewal.look(at: current.offer) { lost.yield() }
  }

  // MARK: A directory that is gone

  /// The server that takes over; nil if none is needed, or none can be made yet.
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
