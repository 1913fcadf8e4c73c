import Foundation
import Glibc
import TestSupport
import Testing

/// `SDK/Python/taskhost_client.py` against real hosts.
@Suite("The Python client", .timeLimit(.minutes(20)))
struct PythonClientTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let commands = """
    [command.echo]
    run = ["/bin/cat"]
    stdout = "output"
    [command.fail]
    shell = "echo no such luck >&2; exit 3"

    """

  private func python(_ host: HostProcess, _ arguments: [String]) throws -> Program {
    try Program("/usr/bin/env", ["TASKHOST_SOCKET=\(host.socket)", "/usr/bin/python3", "-W", "error"] + arguments)
  }

  @Test("submits, waits, follows, notifies and holds; errors are exceptions that say why")
  func calls() async throws {
    try await HostProcess.run(Self.commands) { host in
      let script = Self.root.appending(path: "Tests/Fixtures/PythonClient/use.py").path
      let result = try await python(host, [script]).result()
      #expect(result.status == 0, "\(result.output)\(result.errors)")
      #expect(result.output.contains("assertions ok"))
    }
  }

  @Test("a wait whose host is killed says so, and goes on with the next host")
  func killed() async throws {
    try await HostProcess.run(Self.commands) { host in
      let id = try await host.submit("", ["--after", "1h"], identifier: "echo")
      let wait = """
        import sys; sys.path.insert(0, "\(Self.root.path)/SDK/Python")
        import taskhost_client
        host = taskhost_client.Host()
        with taskhost_client._Stream(host, {"request": sys.argv[1]}, 60) as events:
          print("waiting", file=sys.stderr, flush=True)
          try: host._wait(events, sys.argv[1], True)
          except taskhost_client.HostUnavailable as error: print(error)
        """
      let (lines, told) = AsyncStream.makeStream(of: String.self)
      let waiting = try Program(
        "/usr/bin/env", ["TASKHOST_SOCKET=\(host.socket)", "/usr/bin/python3", "-c", wait, id], onErrorLine: { told.yield($0) })
      #expect(await lines.first { _ in true } == "waiting")
      await host.kill()
      let result = try await waiting.result()
      #expect(result.output.contains(id), "\(result)")
      try await host.start()
      let again = """
        import sys; sys.path.insert(0, "\(Self.root.path)/SDK/Python")
        import taskhost_client
        host = taskhost_client.Host()
        host.cancel(sys.argv[1])
        try: host.wait(sys.argv[1], 60)
        except taskhost_client.TaskCancelled as error: print(error)
        """
      #expect(try await python(host, ["-c", again, id]).result().output.contains("was cancelled"))
    }
  }
}
