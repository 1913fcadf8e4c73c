import Foundation
import Glibc
import TestSupport

/// The server `webhook_server.py`.
final class WebhookServer: Sendable {
  /// The lines that it has written.
  let told: ToldFile
  let port: String
  var address: String { "http://127.0.0.1:\(port)" }
  private let program: Program

  private init(_ program: Program, port: String, told: String) {
    (self.program, self.port) = (program, port)
    self.told = ToldFile(path: told)
  }

  static func start(_ file: String, secret: String, port: String = "0") async throws -> WebhookServer {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Fixtures/Servers/webhook_server.py").path
    let (ports, told) = AsyncStream.makeStream(of: String.self)
    let program = try Program("/usr/bin/python3", ["-W", "ignore", script, port, file, secret], onErrorLine: { told.yield($0) })
    for await line in ports { return WebhookServer(program, port: line, told: file) }
    throw TestFailure("the server told no port")
  }

  func stop() async {
    program.send(SIGKILL)
    _ = try? await program.result()
  }

  /// Ends it, and does not wait.
  func end() { program.send(SIGKILL) }
}
