import Failpoints
import Foundation
import Glibc
import TestSupport
import Testing

/// `[[notify]]` with a `url`: real receivers, which check signatures by themselves.
@Suite("Notifications by webhook", .timeLimit(.minutes(20)))
struct WebhookNotificationTests {
  private static let secret = "correct horse battery staple"
  private static let fast = "retry = { attempts = 500, initial = \"100ms\", maximum = \"200ms\" }"

  /// A receiver, a host with a table that sends to it, and the lines that the receiver has written.
  private func with(
    _ path: String, _ more: String = "", _ body: (HostProcess, WebhookServer) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let server = try await WebhookServer.start(host.directory("received"), secret: Self.secret)
      do {
        try host.directory.file("secret", Self.secret + "\n")
        try host.configure(
          """
          [[notify]]
          name = "hook"
          on = ["failed", "recovered"]
          url = "\(server.address)\(path)"
          secret_file = "secret"
          group_within = "0s"
          per_hour = 1000
          \(more)

          """)
        try await host.start()
        try await body(host, server)
      } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  @Test("the notification is posted as JSON with an id, a time and a signature that the receiver can check")
  func signed() async throws {
    try await with("/hook?token=x") { host, server in
      _ = try await host.run("message disk full;result 4")
      let entry = try JSON(parsing: try await server.told.lines(1)[0])
      #expect(entry["signed"]?.bool == true && entry["path"]?.string == "/hook?token=x", "\(entry)")
      #expect(entry["headers"]?["content-type"]?.string == "application/json")
      let requests = try await host.json("tasks", "list", "--identifier", "org.taskhost.notify.hook")["requests"]?.array ?? []
      #expect(entry["headers"]?["webhook-id"]?.string == requests.first?["id"]?.string, "\(requests)")
      let document = try JSON(parsing: entry["body"]?.string ?? "")
      #expect(document["text"]?.string == "failed for good: disk full" && document["event"]?.string == "failed")
      // An address may be a secret: lists do not show it.
      #expect(try await !host.cli("plugins", "list", "--json").output.contains("token=x"))
    }
  }

  @Test("a receiver that is down gets the same notification, with the same id, once it is back")
  func down() async throws {
    try await with("/down/3/a", Self.fast) { host, server in
      _ = try await host.run("result 4")
      let entries = try await server.told.lines(4).map { try JSON(parsing: $0) }
      #expect(Set(entries.map { $0["headers"]?["webhook-id"]?.string }).count == 1)
      #expect(Set(entries.map { $0["body"]?.string }).count == 1 && entries.allSatisfy { $0["signed"]?.bool == true })
      try await host.current.line(with: "run succeeded", "org.taskhost.notify.hook")
    }
  }

  @Test("a receiver whose process is gone gets it once it listens again; the host is killed in between")
  func gone() async throws {
    try await with("/hook", Self.fast) { host, server in
      await server.stop()
      _ = try await host.run("message first;result 4")
      try await host.current.line(with: "no connection could be made")
      await host.kill()
      let back = try await WebhookServer.start(server.told.path, secret: Self.secret, port: server.port)
      do {
        try await host.start()
        try await back.told.lines(until: "failed for good: first")
      } catch {
        await back.stop()
        throw error
      }
      await back.stop()
    }
  }

  @Test("an answer that another attempt cannot change is a dead letter after one attempt", arguments: ["/status/404", "/redirect"])
  func refused(_ path: String) async throws {
    try await with(path, Self.fast) { host, server in
      _ = try await host.run("result 4")
      try await host.current.line(with: "run failed: exit code 1: http://127.0.0.1:\(server.port) answers")
      #expect(try await server.told.lines(1).count == 1)
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(problems.contains { $0["subject"]?.string == "org.taskhost.notify.hook" }, "\(problems)")
      #expect(try await host.terminate().status == 0)
      #expect(host.directory.text("received").split(separator: "\n").count == 1, "nobody follows a redirect")
    }
  }

  @Test("an answer that never ends is enough when it has begun")
  func endless() async throws {
    try await with("/endless") { host, _ in
      _ = try await host.run("result 4")
      try await host.current.line(with: "run succeeded", "org.taskhost.notify.hook")
    }
  }

  @Test("a receiver that never answers holds up neither runs nor a shutdown")
  func silent() async throws {
    try await with("/silent") { host, server in
      _ = try await host.run("result 4")
      _ = try await server.told.lines(1)
      for _ in 0..<20 { #expect(try await host.run("result 0")["outcome"]?.string == "succeeded") }
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("format: Slack gets an object with a text, ntfy gets text; without a secret_file nothing is signed")
  func formats() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let server = try await WebhookServer.start(host.directory("received"), secret: Self.secret)
      defer { server.end() }
      try host.configure(
        """
        [[notify]]
        on = ["failed"]
        url = "\(server.address)/slack"
        format = "slack"
        [[notify]]
        on = ["failed"]
        url = "\(server.address)/ntfy"
        format = "text"

        """)
      try await host.start()
      _ = try await host.run("message disk <!channel>;result 4")
      let entries = try await server.told.lines(2).map { try JSON(parsing: $0) }
      let slack = try #require(entries.first { $0["path"]?.string == "/slack" })
      #expect(try JSON(parsing: slack["body"]?.string ?? "")["text"]?.string?.hasSuffix("disk &lt;!channel&gt;") == true)
      let text = try #require(entries.first { $0["path"]?.string == "/ntfy" })
      #expect(text["body"]?.string?.contains(": test.script failed for good: disk <!channel>") == true, "\(text)")
      #expect(entries.allSatisfy { $0["headers"]?["webhook-signature"] == nil })
    }
  }
}
