import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// Requests that an application submits to a fleet within its own transactions.
@Suite("Fleet, submissions in SQL", .timeLimit(.minutes(5)))
struct FleetSubmitTests {
  @Test("a host runs what a committed transaction submitted, and nothing of one that was rolled back")
  func transaction() async throws {
    let server = try PostgresServer.shared.get()
    let address = try server.makeDatabase()
    let made = try await Program.run(try BuiltProgram.taskhost, ["fleet", "init", "--url", address])
    #expect(made.status == 0, "\(made)")
    try await HostProcess.prepare { host in
      let directory = try TestDirectory()
      let pipe = directory("pipe")
      guard mkfifo(pipe, 0o600) == 0 else { throw TestFailure("mkfifo: errno \(errno)") }
      try host.configure(
        """
        [fleet]
        url = "\(address)"
        [retry]
        attempts = 1
        [command.report]
        scope = "fleet"
        shell = '''echo "$TASKHOST_REQUEST_ID $(cat)" > \(pipe)'''
        [command.report.entitlements]
        write = ["\(directory.path)"]
        """)
      let lines = try LineProgram(["/bin/sh", "-c", "exec 3<>\"$0\"; exec cat <&3", pipe])
      try await host.start()
      try await host.current.line(with: "joined the fleet")
      try server.run("CREATE TABLE orders (id int PRIMARY KEY, request text)", on: address)
      for (order, end) in [(1, "ROLLBACK"), (2, "COMMIT")] {
        try server.run(
          """
          BEGIN; INSERT INTO orders VALUES (\(order), taskhost.submit('report', payload => '{"order": \(order)}'));
          \(end); NOTIFY taskhost
          """, on: address)
      }
      let id = try server.run("SELECT request FROM orders", on: address)
      let line = try lines.line()
      #expect(line == "\(id) {\"order\": 2}")
      let shown = try await host.request(id, is: "succeeded")
      #expect(shown["identifier"]?.string == "report")
      // Without a notification, the host looks by itself.
      let later = try server.run("SELECT taskhost.submit('report', payload => '3')", on: address)
      #expect(try lines.line(within: .seconds(30)) { _ in true } == "\(later) 3")
      #expect(try await host.terminate().status == 0)
      let left = try server.run("SELECT count(*) FROM taskhost.request", on: address)
      #expect(left == "0")
    }
  }
}
