import Glibc
import Logging
import NIOCore

/// Serves the control API over TCP, to clients with tokens, beside the control socket.
struct RemoteListener: Sendable {
  let tokens: TokenKeeper
  private let access: RemoteAccess
  private let responder: ControlResponder
  private let patience: ClientPatience
  private let logger: Logger
  private let onListening: @Sendable (_ port: Int) -> Void

  /// Reads the tokens.
  init(
    _ access: RemoteAccess, _ responder: ControlResponder, _ patience: ClientPatience, logger: Logger,
    onListening: @escaping @Sendable (_ port: Int) -> Void
  ) throws(TokenFileError) {
    tokens = try TokenKeeper(TokenFile(path: access.tokenFile), logger: logger)
    (self.access, self.responder, self.patience, self.logger, self.onListening) = (access, responder, patience, logger, onListening)
  }

  /// Listens, then runs `socket`, and serves until both have ended.
  ///
  /// - Throws: ``RemoteAccessError`` if it cannot listen; then `socket` is never run.
  func run(with socket: @escaping @Sendable () async throws -> Void) async throws {
    let (listening, signal) = AsyncStream<Int>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { signal.finish() }
        do { try await server { signal.yield($0) }.run() } catch let error as IOError { throw problem(error) }
      }
      var isListening = false
      for await port in listening {
        logger.notice(
          "control open over TCP", metadata: ["host": "\(access.host)", "port": "\(port)", "tls": "\(access.certificate != nil)"])
        onListening(port)
        isListening = true
        break
      }
      if isListening { group.addTask { try await socket() } }
      defer { group.cancelAll() }
      while try await group.next() != nil {}
    }
  }

  private func server(_ listening: @escaping @Sendable (_ port: Int) -> Void) -> HTTPServer {
    HTTPServer(
      address: .tcp(host: access.host, port: access.port), door: RemoteDoor(tokens, logger: logger), certificate: access.certificate,
      table: ConnectionTable(maximum: RemoteAccess.maximumConnections, reserve: RemoteAccess.reservedConnections), patience: patience,
      budget: BodyBudget(), responder: responder
    ) { port in
      listening(port ?? access.port)
      return true
    }
  }

  private func problem(_ error: IOError) -> RemoteAccessError {
    let observed =
      switch error.errnoCode {
      case EADDRINUSE:
        "another process has the port, perhaps another host (ss -tlpn shows it): end that one, or choose another port"
      case EADDRNOTAVAIL: "this machine does not have the address: use one that `ip address` shows, 127.0.0.1 or [::1]"
      case EACCES, EPERM: "it may not be opened by this user: use a port from 1024 on"
      default: "\(error)"
      }
    return RemoteAccessError(access, observed)
  }
}
