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

  private struct State {
    var current: OfferedServer
    /// How often in a row another could not be made.
    var failures = 0
  }

  private let socket: ControlSocket
  private let first: OfferedServer
  private let state: Mutex<State>
  private let make: Make
  private let watch: ControlServer.Watch
  private let logger: Logger
  /// Something comes when the socket may be lost; it ends with the server.
  private let losses: AsyncStream<Void>
  private let lost: AsyncStream<Void>.Continuation

  /// A directory that was made again may be given to this process a moment later: so often it is tried again, and so much later first, in
  /// milliseconds; each pause is twice the one before.
  private static let (mostFailures, firstPause) = (8, 250)

  /// - Throws: If the socket cannot be offered.
  init(_ socket: ControlSocket, watch: @escaping ControlServer.Watch, logger: Logger, make: @escaping Make) throws(ControlSocketError) {
    self.socket = socket
    self.make = make
    self.watch = watch
    self.logger = logger
    first = try Self.offer(socket)
    state = Mutex(State(current: first))
    (losses, lost) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  private static func offer(_ socket: ControlSocket) throws(ControlSocketError) -> OfferedServer {
    try socket.check()
    return OfferedServer(try PrivateSocketDirectory(for: socket))
  }

  private var current: OfferedServer { state.withLock { $0.current } }

  /// Whether clients could connect at all.
  var wasOffered: Bool { first.isOffered }
  /// Why they could not; nil: it is not the socket.
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
    let before = state.withLock { state in
      defer { state = State(current: server) }
      return state.current
    }
    if before === server {
      watch(socket.path) { self.look() }
    } else {
      before.retire()
      logger.warning("the control socket was removed with its directory; it is there again", metadata: ["path": "\(socket.path)"])
    }
    return true
  }

  /// The file at the path, or its directory, may have changed.
  private func look() {
    let offer = current.offer
    do throws(ControlSocketError) {
      if try offer.look() {
        logger.warning("the control socket's file was removed; it is there again", metadata: ["path": "\(socket.path)"])
      }
    } catch {
      // Another takes the place of what cannot be brought back.
      if error.problem == .replaced { logger.error("the control socket's file was removed: \(error)") }
    }
    guard offer.isLost else { return }
    state.withLock { $0.failures = 0 }
    lost.yield()
  }

  // MARK: A directory that is gone

  /// What takes the place of the present one; nil: it need not, or cannot yet.
  private func renewed() -> OfferedServer? {
    guard current.offer.isLost else { return nil }
    do throws(ControlSocketError) { return try Self.offer(socket) } catch {
      fail(error)
      return nil
    }
  }

  private func replace(with next: OfferedServer) async {
    do {
      try await serve(next)
      if !next.isOffered, let problem = next.offer.problem { fail(problem) }
    } catch { if !next.isOffered { fail(error) } }
  }

  private func fail(_ error: any Error) {
    let failures = state.withLock { state in
      state.failures += 1
      return state.failures
    }
    if failures == 1 { logger.error("the control socket was removed with its directory: \(error)") }
    if let slash = socket.path.lastIndex(of: "/"), slash != socket.path.startIndex {
      watch(String(socket.path[..<slash])) { self.look() }
    }
    guard failures <= Self.mostFailures else { return }
    Task { [lost] in
      try? await Task.sleep(for: .milliseconds(Self.firstPause << (failures - 1)))
      lost.yield()
    }
  }
}
