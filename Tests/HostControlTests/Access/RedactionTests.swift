import ControlTestSupport
import RecordJSON
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("Redacted payloads") struct RedactionTests {
  @Test(
    "a name hides members however deep; several names hide a place, a star any one of them; the rest stays byte for byte",
    arguments: [
      (["password"], #"{"password": "p", "a": [{"password": {"x": 1}}, 2]}"#, #"{"password": "•••", "a": [{"password": "•••"}, 2]}"#),
      (["*.token"], #"{"token": 1, "a": {"token": 1, "b": {"token": 1}}}"#, #"{"token": 1, "a": {"token": "•••", "b": {"token": 1}}}"#),
      (["a.b"], #"{"a":[{"b":1},{"b":[2]}],"b":3}"#, #"{"a":[{"b":"•••"},{"b":"•••"}],"b":3}"#),
      (["a.*"], #"{"a":{"x":1,"y":null},"b":{"x":1}}"#, #"{"a":{"x":"•••","y":"•••"},"b":{"x":1}}"#),
      (["a", "b"], #"[{"b":1}, {"a":{"b":1}}]"#, #"[{"b":"•••"}, {"a":"•••"}]"#),
      (["p"], #"{"\u0070": "secret"}"#, #"{"\u0070": "•••"}"#),
      (["password"], #"{"u":1,"u":2,"password":"p"}"#, #""•••""#), (["password"], #" [{"password":"#, #""•••""#),
      (["password"], #"{"a":"# + String(repeating: #"{"a":"#, count: 200) + #"{"password":1}"#, #""•••""#),
      (["password"], "password=p", "password=p"), (["password"], "", ""), ([], #"{"password": 1}"#, #"{"password": 1}"#),
    ])
  func members(_ patterns: [String], _ payload: String, _ shown: String) {
    let redaction = PayloadRedaction(patterns.compactMap(PayloadRedaction.Pattern.init))
    #expect(String(decoding: redaction.redacted(Array(payload.utf8)), as: UTF8.self) == shown)
  }

  @Test("what is no pattern is refused", arguments: ["", "*", ".", "a.", ".a", "a..b"])
  func patterns(_ text: String) { #expect(PayloadRedaction.Pattern(text) == nil) }

  @Test("a place in or at a hidden member is hidden, one beside or above it is not")
  func places() throws {
    let redaction = PayloadRedaction([try #require(PayloadRedaction.Pattern("password")), try #require(PayloadRedaction.Pattern("a.b"))])
    for path in [["password"], ["x", "password"], ["password", "x"], ["a", "b"], ["a", "b", "c"]] { #expect(redaction.hides(path)) }
    for path in [["a"], ["b"], ["x", "b"], ["x", "a", "b"], ["passwords"]] { #expect(!redaction.hides(path)) }
  }

  @Test("records, answers to changes, transfers and the dashboard show the mask; filters by a hidden member are refused everywhere")
  func everywhere() async throws {
    let host = MemoryHost()
    try await RemoteFixture.with(host, redact: ["password"]) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let body = #"{"identifier": "com.example.a", "tags": ["t"], "payload": {"user": "u", "password": "hunter2"}}"#
      let id = try #require(try await client.send("POST", "/v1/requests", body).node["id"]?.string)
      let first = try await client.send("GET", "/v1/requests/\(id)")
      #expect(first.node["payload"]?["password"]?.string == "•••" && first.node["payload"]?["user"]?.string == "u")
      for (method, suffix, body) in [("POST", "/snooze", #"{"delay_ms": 1000}"#), ("DELETE", "", nil)] as [(String, String, String?)] {
        let answer = try await client.send(method, "/v1/requests/\(id)\(suffix)", body)
        #expect(answer.status == 200 && !String(decoding: answer.bytes, as: UTF8.self).contains("hunter2"), "\(suffix)")
      }
      let page = try await RawClient.Page(socket: fixture.socket).get("/ui/requests/\(id)")
      #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("•••") && !page.contains("hunter2"))
      #expect(host.submitted.first.map { String(decoding: $0.payload, as: UTF8.self).contains("hunter2") } == true, "the handler gets it")
      for (method, path, body) in [
        ("GET", "/v1/requests?filter=payload.password:hunter2", nil), ("GET", "/v1/requests?filter=payload.a.password.b:x", nil),
        ("POST", "/v1/requests/bulk", #"{"filter": "payload.password:h", "action": "cancel", "dry_run": true}"#),
        ("POST", "/v1/pauses", #"{"filter": "payload.password:h", "dry_run": true}"#),
      ] as [(String, String, String?)] {
        let refused = try await client.send(method, path, body)
        #expect(refused.status == 400 && refused.field == "filter", "\(path)")
      }
      #expect(try await client.send("GET", "/v1/requests?filter=payload.user:u").node["requests"]?.array?.count == 1)
    }
  }
}

extension RawClient {
  /// Asks for pages on connections of their own, as a browser does.
  struct Page: Sendable {
    let socket: String

    func get(_ path: String) async throws -> String {
      try await send("GET \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    }

    func post(_ path: String) async throws -> String {
      try await send(
        "POST \(path) HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: same-origin\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    }

    private func send(_ text: String) async throws -> String {
      let client = try RawClient(socket)
      client.send(text)
      return await client.readToEnd()
    }
  }
}
