import Foundation
import Glibc
import TestSupport
import Testing

/// The sample `push-python`: pushes of a server lead to one fetch, whose result has three values.
@Suite("The push sample", .timeLimit(.minutes(20)))
struct PushSampleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Asks the server for something, without a proxy.
  private func ask(_ address: String, _ path: String) async throws {
    let script =
      "import sys, urllib.request; urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1], timeout=60).read()"
    let result = try await Program("/usr/bin/python3", ["-c", script, address + path]).result()
    guard result.status == 0 else { throw TestFailure("\(path): \(result)") }
  }

  private func withServer(_ body: (HostProcess, String) async throws -> Void) async throws {
    let script = Self.root.appending(path: "Tests/Fixtures/Servers/push_server.py").path
    let (ports, told) = AsyncStream.makeStream(of: String.self)
    let server = try Program("/usr/bin/python3", [script], onErrorLine: { told.yield($0) })
    guard let port = await ports.first(where: { _ in true }) else { throw TestFailure("the server told no port") }
    let address = "http://127.0.0.1:\(port)"
    try await HostProcess.prepare { host in
      for name in ["listen.py", "fetch.py"] {
        try host.directory.file(name, try Data(contentsOf: Self.root.appending(path: "Plugins/Samples/push-python/\(name)")), mode: 0o755)
      }
      try host.configure(
        """
        drain_timeout = "0s"
        [command.push]
        run = ["./listen.py", "\(address)/events", "feed.pushed"]
        exit_codes = { 0 = "snooze" }
        [command.feed]
        run = ["./fetch.py", "\(address)/feed", "\(host.directory("feed.txt"))"]
        schedule = "on feed.pushed after 300ms"
        exit_codes = { 1 = "noop" }
        retry = { attempts = 5, initial = "100ms" }

        """)
      try await host.start()
      try await body(host, address)
    }
    server.send(SIGKILL)
    _ = try? await server.result()
  }

  private func content(_ host: HostProcess) -> String? { try? String(contentsOfFile: host.directory("feed.txt"), encoding: .utf8) }

  @Test("many pushes lead to one fetch; new data is a success, no data a noop, a failure is tried again")
  func pushes() async throws {
    try await withServer { host, address in
      _ = try await host.submit("", identifier: "push")
      // It fetches once when it begins to listen.
      try await host.current.line(with: "run succeeded", "\"feed\"")
      #expect(content(host) == "first")

      var seen = host.current.lines.count
      try await ask(address, "/set?to=second")
      try await ask(address, "/push?n=20")
      try await host.current.line(with: "run succeeded", "\"feed\"", from: seen)
      #expect(content(host) == "second")
      let fetches = host.current.lines[seen...].filter { $0.contains("\"feed\"") && $0.contains("new data") }
      #expect(fetches.count == 1, "\(fetches)")

      seen = host.current.lines.count
      try await ask(address, "/push?n=1")
      try await host.current.line(with: "run noop", "\"feed\"", from: seen)

      seen = host.current.lines.count
      try await ask(address, "/set?to=third")
      try await ask(address, "/fail?times=1")
      try await ask(address, "/push?n=3")
      try await host.current.line(with: "run retried", "\"feed\"", from: seen)
      try await host.current.line(with: "run succeeded", "\"feed\"", from: seen)
      #expect(content(host) == "third")
      #expect(try await host.terminate().status == 0)
    }
  }
}
