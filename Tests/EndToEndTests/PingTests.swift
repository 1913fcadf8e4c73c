import Foundation
import TestSupport
import Testing

/// `ping`: monitors of schedules, such as healthchecks.io, are told how runs go.
@Suite("Pings of monitors", .timeLimit(.minutes(20)))
struct PingTests {
  private func with(_ path: String, _ body: (HostProcess, WebhookServer) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let server = try await WebhookServer.start(host.directory("received"), secret: "x")
      defer { server.end() }
      try host.configure("[plugin.\"test.script\"]\nping = \"\(server.address)\(path)\"\n")
      try await host.start()
      try await body(host, server)
    }
  }

  @Test("the begin, the success and the failure for good of a run are told, with its id; an attempt that is retried is no failure")
  func signals() async throws {
    try await with("/check") { host, server in
      let first = try await host.run("result 0")["run"]?["id"]?.string ?? ""
      _ = try await host.run("message disk full;result 4;result-until 2 3")
      let entries = try await server.told.lines(until: "/check/fail").map { try JSON(parsing: $0) }
      let paths = entries.map { String($0["path"]?.string?.prefix { $0 != "?" } ?? "") }
      #expect(paths == ["/check/start", "/check", "/check/start", "/check/start", "/check/fail"], "\(entries)")
      #expect(entries[0]["path"]?.string == "/check/start?rid=\(first)" && entries[1]["path"]?.string == "/check?rid=\(first)")
      #expect(entries[4]["body"]?.string == "disk full")
      let socket = host.socket
      let text = try await onThread { try SocketClient(socket).request("GET", "/metrics") }.body
      #expect(text.contains("taskhost_pings_total{outcome=\"failed\"} 0"), "\(text)")
    }
  }

  @Test("a monitor that never answers holds up neither runs nor a shutdown")
  func silent() async throws {
    try await with("/silent") { host, server in
      for _ in 0..<10 { #expect(try await host.run("result 0")["outcome"]?.string == "succeeded") }
      _ = try await server.told.lines(1)
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("a monitor that refuses is named in the log once, without its address")
  func refused() async throws {
    try await with("/status/404") { host, _ in
      for _ in 0..<3 { _ = try await host.run("result 0") }
      try await host.current.line(with: "a ping of test.script was not delivered: ", "taskhost-notify ended with code 1")
      #expect(try await host.terminate().status == 0)
      #expect(host.current.lines.count { $0.contains("was not delivered") } == 1)
      #expect(!host.current.lines.contains { $0.contains("/status/404") })
    }
  }
}
