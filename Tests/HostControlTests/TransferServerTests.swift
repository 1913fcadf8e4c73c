import ControlTestSupport
import Glibc
import HostControl
import StrictText
import TaskModel
import Testing

@Suite("Transfers over HTTP") struct TransferServerTests {
  private func with(
    _ body: @escaping @Sendable (MemoryHost, HTTPTestClient) async throws -> Void
  ) async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { try await body(host, HTTPTestClient(socket: $0.socket)) }
  }

  private static let batch = """
    {"payload": {"items": [{"url": "https://example.org/1", "to": "/srv/1"}, {"url": "https://example.org/2", "from": "/srv/2"}]},
     "conditions": ["network"], "tags": ["photos"]}
    """

  @Test("a transfer is submitted, listed with what it is, shown with its payload, and cancelled")
  func life() async throws {
    try await with { host, client in
      let submitted = try await client.send("POST", "/v1/transfers", Self.batch)
      #expect(submitted.status == 201, "\(submitted.message ?? "")")
      let id = try #require(submitted.node["id"]?.string)
      #expect(host.submitted.map(\.identifier.rawValue) == ["org.taskhost.transfers"])
      #expect(host.submitted.first?.conditions == [.network])
      let listed = try await client.send("GET", "/v1/transfers").node["transfers"]?.array ?? []
      #expect(listed.count == 1)
      #expect(listed.first?["id"]?.string == id && listed.first?["state"]?.string == "pending")
      #expect(listed.first?["transfers"]?.integer == 2)
      #expect(listed.first?["url"]?.string == "https://example.org/1" && listed.first?["to"]?.string == "/srv/1")
      #expect(listed.first?["payload"] == nil && listed.first?["bytes"]?.integer == 0)
      let shown = try await client.send("GET", "/v1/transfers/\(id)").node
      #expect(shown["payload"]?["items"]?.array?.count == 2 && shown["url"] == nil)
      #expect(try await client.send("DELETE", "/v1/transfers/\(id)").node["state"]?.string == "cancelled")
    }
  }

  @Test("a list and what is shown have the progress and the bytes of the last run, and its report")
  func progress() async throws {
    try await with { host, client in
      let submitted = try await client.send("POST", "/v1/transfers", "{\"payload\": {\"url\": \"https://example.org/1\", \"to\": \"/a\"}}")
      let text = try #require(submitted.node["id"]?.string)
      let id = try #require(RequestID(text))
      let run = host.begin(id)
      var record = try await host.run(run)
      record.report.progress = RunProgress(completed: 500, total: 1000, unit: "bytes")
      host.put(record)
      let listed = try await client.send("GET", "/v1/transfers?state=running").node["transfers"]?.array?.first
      #expect(listed?["bytes"]?.integer == 500 && listed?["progress"]?["total"]?.integer == 1000)
      host.end(run, .succeeded, output: Array("{\"done\":1,\"failed\":0,\"waiting\":0,\"bytes\":1000}".utf8), then: .succeeded)
      let shown = try await client.send("GET", "/v1/transfers/\(text)").node
      #expect(shown["bytes"]?.integer == 1000 && shown["done"]?.integer == 1 && shown["report"]?["bytes"]?.integer == 1000)
    }
  }

  @Test("a pause names the user of the client, and its reason; a resumption ends it")
  func pause() async throws {
    try await with { host, client in
      let id = try #require(try await client.send("POST", "/v1/transfers", Self.batch).node["id"]?.string)
      let paused = try await client.send("POST", "/v1/transfers/\(id)/pause", "{\"why\": \"slow\"}")
      #expect(paused.status == 200, "\(paused.message ?? "")")
      #expect(
        paused.node["paused"]?["by"]?.string.map { $0.contains("user \(geteuid())") } == true
          && paused.node["paused"]?["why"]?.string == "slow")
      #expect(paused.node["paused"]?["since_unix_ms"]?.integer != nil)
      let resumed = try await client.send("POST", "/v1/transfers/\(id)/resume")
      #expect(resumed.status == 200 && resumed.node["paused"] == nil)
    }
  }

  @Test("requests of others are no transfers, and other identifiers are refused")
  func others() async throws {
    try await with { host, client in
      let id = try await host.submit([TaskRequest(identifier: try TaskIdentifier("a"))])[0].id
      for (method, path) in [("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/resume")] {
        let answer = try await client.send(method, "/v1/transfers/\(id)\(path)")
        #expect(answer.status == 404 && answer.message?.contains("is of a, not a transfer") == true, "\(method) \(path)")
      }
      let other = try await client.send("POST", "/v1/transfers", "{\"identifier\": \"a\"}")
      #expect(other.status == 400 && other.field == "identifier")
      let listed = try await client.send("GET", "/v1/transfers").node["transfers"]?.array
      #expect(listed?.isEmpty == true)
    }
  }

  @Test(
    "a reason that is malformed is refused by its member",
    arguments: ["{\"why\": 1}", "{\"why\": \"\"}", "{\"why\": \"\(String(repeating: "x", count: 1025))\"}", "{\"by\": \"me\"}", "[]", "{"])
  func refused(_ body: String) async throws {
    try await with { _, client in
      let id = try #require(try await client.send("POST", "/v1/transfers", Self.batch).node["id"]?.string)
      let answer = try await client.send("POST", "/v1/transfers/\(id)/pause", body)
      #expect(answer.status == 400, "\(body): \(answer.message ?? "")")
    }
  }
}
