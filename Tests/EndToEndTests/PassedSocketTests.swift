import Foundation
import Glibc
import TestSupport
import Testing

/// A control socket that the service manager has made.
@Suite("Passed control socket", .timeLimit(.minutes(10)))
struct PassedSocketTests {
  /// Gives `body` a launcher that listens and has not started its host.
  private static func launcher(
    _ configuration: String = "", names: String = "control", _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure(configuration)
      try host.spawn(through: SocketLauncher.wrapper(host.socket, names: names))
      try await host.current.line(with: "the launcher listens")
      do { try await body(host) } catch {
        await end(host)
        throw error
      }
      await end(host)
    }
  }

  private static func end(_ host: HostProcess) async {
    try? FileManager.default.removeItem(atPath: host.socket + ".again")
    if let process = try? await process(of: host) { kill(process, SIGKILL) }
    _ = try? await host.end(within: .seconds(5))
  }

  private static func process(of host: HostProcess) async throws -> pid_t {
    pid_t(try await host.json("status")["process_id"]?.integer ?? 0)
  }

  private static func start(_ host: HostProcess) throws { try host.directory.file("state/control.sock.start", "") }

  @Test("a client that connects before the host starts gets its answer; the socket stays when the host ends, with the configured mode")
  func early() async throws {
    try await Self.launcher("[control]\nmode = \"0660\"\n") { host in
      let early = try host.startCLI("submit", "test.script", "--payload", "\"result 0\"", "--wait")
      try await Task.sleep(for: .milliseconds(300))
      #expect(early.isRunning)
      try Self.start(host)
      #expect(try await early.result().status == 0)
      var (before, after) = (stat(), stat())
      #expect(lstat(host.socket, &before) == 0 && before.st_mode & 0o777 == 0o660)
      #expect(try await host.cli("shutdown").status == 0)
      try await host.current.line(with: "the host has ended: 0")
      #expect(lstat(host.socket, &after) == 0 && after.st_ino == before.st_ino)
    }
  }

  @Test("a restart in the middle of a loop of commands refuses none of them")
  func restart() async throws {
    try await Self.launcher { host in
      try host.directory.file("state/control.sock.again", "")
      try Self.start(host)
      try await host.current.line(with: "control socket open")
      let loop = Task {
        var results: [Program.Result] = []
        while !Task.isCancelled { results.append(try await host.cli("plugins", "list")) }
        return results
      }
      for _ in 0..<4 {
        let from = host.current.lines.count
        kill(try await Self.process(of: host), SIGTERM)
        try await host.current.line(with: "the host has ended: 0", from: from)
        try await host.current.line(with: "launched:", from: from)
      }
      loop.cancel()
      let results = try await loop.value
      #expect(!results.isEmpty)
      for result in results { #expect(result.status == 0 && result.output.contains("test.script"), "\(result)") }
    }
  }

  @Test("what is passed and no control socket is refused with exit 78", arguments: ["control:other", "http", "datagram", "deaf"])
  func strict(_ names: String) async throws {
    try await HostProcess.prepare { host in
      try host.configure("")
      try Self.makeStart(host)
      try host.spawn(through: SocketLauncher.wrapper(host.socket, names: names))
      try await host.current.line(with: "the service manager has passed what is not used")
      #expect(try await host.end().status == 78)
    }
  }

  private static func makeStart(_ host: HostProcess) throws {
    try host.directory.folder("state")
    try start(host)
  }

  @Test("a socket that is bound elsewhere than clients look for is refused with both paths")
  func elsewhere() async throws {
    try await HostProcess.prepare { host in
      try host.configure("[control]\nsocket = \"other.sock\"\n")
      try Self.makeStart(host)
      try host.spawn(through: SocketLauncher.wrapper(host.socket))
      try await host.current.line(with: "the service manager listens at", "other.sock")
      #expect(try await host.end().status == 78)
    }
  }

  @Test("sockets that were passed to another process are left alone")
  func others() async throws {
    try await HostProcess.prepare(environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"]) { host in
      try host.configure("[command.\"test.environment\"]\nrun = [\"/usr/bin/env\"]\n")
      try await host.start()
      let shown = try await host.cli("submit", "test.environment", "--wait")
      #expect(shown.status == 0 && !shown.errors.contains("LISTEN_"), "\(shown)")
    }
  }
}
