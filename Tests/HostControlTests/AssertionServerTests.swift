import ControlTestSupport
import Glibc
import HostControl
import StrictText
import TaskModel
import Testing

@Suite("Assertions over HTTP") struct AssertionServerTests {
  private func with(_ host: MemoryHost, _ body: @escaping @Sendable (HTTPTestClient) async throws -> Void) async throws {
    try await ControlFixture.with(host) { try await body(HTTPTestClient(socket: $0.socket)) }
  }

  @Test("an assertion is taken, listed, shown in the status, and given back once")
  func life() async throws {
    try await with(MemoryHost()) { client in
      let taken = try await client.send(
        "POST", "/v1/assertions", "{\"name\": \"backup\", \"reason\": \"writing\", \"for_ms\": 60000, \"process_id\": 42}")
      #expect(taken.status == 201, "\(taken.message ?? "")")
      let id = try #require(taken.node["id"]?.string)
      #expect(taken.node["name"]?.string == "backup")
      #expect(taken.node["reason"]?.string == "writing")
      #expect(taken.node["state"]?.string == "held")
      #expect(taken.node["process_id"]?.integer == 42)
      #expect(taken.node["user_id"]?.integer == Int64(geteuid()), "the kernel says who asked")
      #expect(taken.node["remaining_ms"]?.integer == 60000)
      #expect(taken.node["since_unix_ms"]?.integer == 1_700_000_000_000)
      #expect(taken.node["expires_unix_ms"]?.integer == 1_700_000_060_000)
      for path in ["/v1/assertions", "/v1/status"] {
        let listed = try await client.send("GET", path).node["assertions"]?.array ?? []
        #expect(listed.compactMap { $0["id"]?.string } == [id], "\(path)")
      }
      let back = try await client.send("DELETE", "/v1/assertions/\(id)")
      #expect(back.status == 200 && back.node["state"]?.string == "given_back" && back.node["remaining_ms"]?.integer == 0)
      let again = try await client.send("DELETE", "/v1/assertions/\(id)")
      #expect(again.status == 404 && again.code == "not_found")
      #expect(try await client.send("GET", "/v1/assertions").node["assertions"]?.array?.isEmpty == true)
    }
  }

  @Test("only the name is required: 30 seconds, for no process")
  func presets() async throws {
    try await with(MemoryHost()) { client in
      let taken = try await client.send("POST", "/v1/assertions", "{\"name\": \"a\"}").node
      #expect(taken["remaining_ms"]?.integer == 30000)
      #expect(taken["process_id"] == nil && taken["reason"] == nil)
    }
  }

  @Test(
    "what is malformed is refused by its member",
    arguments: [
      ("{}", "name"), ("{\"name\": 1}", "name"), ("{\"name\": \"\"}", "name"), ("{\"name\": \"a\", \"for_ms\": \"30s\"}", "for_ms"),
      ("{\"name\": \"a\", \"for_ms\": -1}", "for_ms"), ("{\"name\": \"a\", \"for_ms\": 0}", "for_ms"),
      ("{\"name\": \"a\", \"for_ms\": 1.5}", "for_ms"), ("{\"name\": \"a\", \"for_ms\": 600001}", "for_ms"),
      ("{\"name\": \"a\", \"for_ms\": 9223372036854775807}", "for_ms"), ("{\"name\": \"a\", \"process_id\": 0}", "process_id"),
      ("{\"name\": \"a\", \"process_id\": -9223372036854775808}", "process_id"), ("{\"name\": \"a\", \"pid\": 1}", "pid"),
      ("{\"name\": \"a\", \"reason\": null}", "reason"), ("[]", nil), ("", nil), ("{\"name\": \"a\"", nil),
    ] as [(String, String?)])
  func refused(_ body: String, _ field: String?) async throws {
    try await with(MemoryHost()) { client in
      let answer = try await client.send("POST", "/v1/assertions", body)
      #expect(answer.status == 400, "\(body): \(answer.status)")
      #expect(answer.code == "invalid" && answer.field == field, "\(body): \(answer.message ?? "")")
    }
  }

  @Test("an unknown member is answered with the nearest name")
  func hint() async throws {
    try await with(MemoryHost()) { client in
      let answer = try await client.send("POST", "/v1/assertions", "{\"name\": \"a\", \"for_m\": 1}")
      #expect(answer.message?.contains("for_ms") == true, "\(answer.message ?? "")")
    }
  }

  @Test("an id that is none is 404, and a wrong method names the right ones")
  func wrong() async throws {
    try await with(MemoryHost()) { client in
      #expect(try await client.send("DELETE", "/v1/assertions/x").status == 404)
      let answer = try await client.send("DELETE", "/v1/assertions")
      #expect(answer.status == 405 && answer.message?.contains("GET or POST") == true)
    }
  }

  @Test("the stream tells that an assertion is taken and given back, but not a reader of one request")
  func stream() async throws {
    let host = MemoryHost()
    try await with(host) { client in
      var text = ""
      for try await part in client.stream() {
        text += part.text
        if text.hasSuffix(": subscribed\n\n") {
          let taken = try await client.send("POST", "/v1/assertions", "{\"name\": \"a\"}")
          _ = try await client.send("DELETE", "/v1/assertions/\(taken.node["id"]?.string ?? "")")
        }
        if text.contains("given_back") { break }
      }
      let data = text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { Array($0.dropFirst(6).utf8) }
      let states = try data.map { try JSONReader.read($0)["state"]?.string }
      #expect(states == ["held", "given_back"])
      #expect(text.contains("event: assertion\n"))
    }
  }
}
