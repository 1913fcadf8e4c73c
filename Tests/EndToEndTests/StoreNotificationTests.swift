import Foundation
import Glibc
import TestSupport
import Testing

/// `[[notify]]` about the store itself, of which no request can tell.
@Suite("Notifications of trouble with the store", .timeLimit(.minutes(20)))
struct StoreNotificationTests {
  @Test("a store that cannot be written is told to a command and a webhook, and so is its recovery")
  func store() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let told = ToldFile(path: host.directory("told"))
      let server = try await WebhookServer.start(host.directory("received"), secret: "secret")
      defer { server.end() }
      try host.directory.file("secret", "secret")
      try host.configure(
        """
        [[notify]]
        name = "ops"
        on = ["store"]
        command = ["/bin/sh", "-c", "printf '%s|' \\"$TASKHOST_EVENT\\" >> \(told.path); cat >> \(told.path)"]
        [[notify]]
        on = ["store"]
        url = "\(server.address)/hook"
        secret_file = "secret"

        """)
      // The soft limit, so that it can be raised again.
      try host.spawn(through: ["/usr/bin/prlimit", "--fsize=4194304:", "--"])
      try await host.current.line(with: "control socket open")
      let socket = host.socket
      let body = "{\"identifier\":\"test.script\",\"delay_ms\":3600000,\"payload\":\"\(String(repeating: "x", count: 60_000))\"}"
      try await onThread {
        for _ in 0..<500 {
          guard try SocketClient(socket).request("POST", "/v1/requests", body: body).status == 503 else { continue }
          if try SocketClient(socket).request("GET", "/healthz").status == 503 { return }
        }
        throw TestFailure("the store was never lost")
      }
      let line = try await told.lines(1)[0]
      #expect(line.hasPrefix("store|{\"rule\":\"ops\","), "\(line)")
      let document = try JSON(parsing: line.dropFirst("store|".count))
      #expect(document["title"]?.string == "the store" && document["text"]?.string?.hasPrefix("cannot be written") == true, "\(line)")
      let entry = try JSON(parsing: try await server.told.lines(1)[0])
      #expect(entry["signed"]?.bool == true && entry["body"]?.string?.contains("cannot be written") == true, "\(entry)")
      _ = try await Program.run("/usr/bin/prlimit", ["--pid", "\(host.processID)", "--fsize=unlimited:"])
      try await host.current.line(with: "the store works again", within: .seconds(60))
      // A second notice of the store follows after 30 s at the earliest.
      try await told.lines(until: "works again")
    }
  }
}
