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
    let fleet = try await FleetGround(lease: "10s")
    let (server, address) = (fleet.server, fleet.address)
    try await HostProcess.prepare { host in
      try host.configure(
        """
        [fleet]
        url = "\(address)"
        [retry]
        attempts = 1
        [command.report]
        scope = "fleet"
        shell = '''echo "$TASKHOST_REQUEST_ID $(cat)" > \(fleet.pipe)'''
        [command.report.entitlements]
        write = ["\(fleet.directory.path)"]
        """)
      let lines = try fleet.reader()
      try await FleetGround.joined(host)
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

  @Test("a payload that does not fit the handler fails the request for good with the reason, and the host goes on")
  func contract() async throws {
    let fleet = try await FleetGround(lease: "10s")
    let (server, address) = (fleet.server, fleet.address)
    try await HostProcess.prepare { host in
      try await host.add("typed.so", "typed", ["-DIDENTIFIER=\"test.typed\""])
      try host.configure("[fleet]\nurl = \"\(address)\"\n[plugin.\"test.typed\"]\nscope = \"fleet\"\n")
      try await FleetGround.joined(host)
      func submit(_ payload: String) throws -> String {
        try server.run("SELECT taskhost.submit('test.typed', payload => '\(payload)', notify => true)", on: address)
      }
      let wrong = try submit(#"{"horizon_s":"soon"}"#)
      let shown = try await host.request(wrong, is: "failed")
      #expect(shown["last_message"]?.string?.hasPrefix("the payload does not fit the handler of test.typed: ") == true, "\(shown)")
      // It is a dead letter of the fleet: no run, no attempt, and nobody takes it again.
      #expect(try server.run("SELECT count(*) FROM taskhost.run", on: address) == "0")
      #expect(try server.run("SELECT state FROM taskhost.request", on: address) == "failed")
      let right = try submit(#"{"horizon_s":1,"account":"a","ratio":0.5,"dry_run":true,"blob":"AQ=="}"#)
      _ = try await host.request(right, is: "succeeded")
      #expect(try server.run("SELECT count(*) FROM taskhost.run", on: address) == "1")
    }
  }
}
