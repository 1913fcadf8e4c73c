import Foundation
public import HostControl
import Logging
public import RecordJSON
import ServiceLifecycle

/// A control server on a socket in a directory of its own.
public struct ControlFixture: Sendable {
  /// The directory; removed afterwards.
  public let directory: String
  /// The socket's path.
  public var socket: String { directory + "/control.sock" }

  /// Runs `body` while a server for `host` answers on the socket; throws what the server throws.
  public static func with(
    _ host: any ControlledHost, mode: UInt32 = 0o600, _ body: @escaping @Sendable (ControlFixture) async throws -> Void
  ) async throws {
    try await withDirectory { directory in
      let fixture = ControlFixture(directory: directory)
      try await serve(host, on: ControlSocket(path: fixture.socket, mode: mode)) { try await body(fixture) }
    }
  }

  /// Runs `body` with a new directory, which is removed afterwards.
  public static func withDirectory(_ body: (String) async throws -> Void) async throws {
    let directory = "/tmp/taskhost-control-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(directory)
  }

  /// Runs `body` while a server answers on `socket`, and ends the server gracefully.
  public static func serve(
    _ host: any ControlledHost, on socket: ControlSocket, passed: Int32? = nil, remote: RemoteAccess? = nil,
    auditDirectory: String? = nil, redaction: PayloadRedaction = PayloadRedaction(),
    watch: @escaping ControlServer.Watch = { _, _ in }, changing change: (inout ControlServer) -> Void = { _ in },
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let (listening, signal) = AsyncStream<Void>.makeStream()
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var server = ControlServer(
      host: host, socket: socket, passed: passed, remote: remote, auditDirectory: auditDirectory, redaction: redaction, logger: logger,
      watch: watch, onListening: { signal.finish() })
    change(&server)
    let service = server
    let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [service], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { signal.finish() }
        try await group.run()
      }
      for await _ in listening {}
      do {
        try await body()
      } catch {
        await group.triggerGracefulShutdown()
        _ = try? await tasks.next()
        throw error
      }
      await group.triggerGracefulShutdown()
      try await tasks.next()
    }
  }
}
