import ControlTestSupport
import HTTPTransfer
import StoreTestSupport
import StrictText
import Synchronization
import TaskModel
import Testing

@testable import HostControl

/// What a token for some identifiers sees and changes.
@Suite("Scopes of tokens") struct ScopeTests {
  private static let (own, other) = ("com.example.a", "org.example.b")

  /// Submits one request of each identifier, and gives their ids.
  private func with(
    _ role: AccessRole = .operate,
    _ body: @escaping @Sendable (RemoteClient, (own: String, other: String), MemoryHost, RemoteFixture) async throws -> Void
  ) async throws {
    let host = MemoryHost()
    try await RemoteFixture.with(host) { fixture in
      let local = HTTPTestClient(socket: fixture.socket)
      func submit(_ identifier: String) async throws -> String {
        let answer = try await local.send("POST", "/v1/requests", #"{"identifier": "\#(identifier)", "tags": ["t"]}"#)
        return try #require(answer.node["id"]?.string)
      }
      let ids = (own: try await submit(Self.own), other: try await submit(Self.other))
      try await body(try fixture.client(role, "com.example.*"), ids, host, fixture)
    }
  }

  @Test("lists have only what is in the scope, by filter and without")
  func lists() async throws {
    try await with { client, ids, host, _ in
      func found(_ path: String, _ name: String = "requests") async throws -> [String] {
        try await client.send("GET", path).node[name]?.array?.compactMap { $0["id"]?.string } ?? []
      }
      for query in ["", "?filter=tag:t", "?tag=t", "?state=pending", "?identifier=com.example.a", "?filter=identifier:*"] {
        #expect(try await found("/v1/requests\(query)") == [ids.own], "\(query)")
      }
      for query in ["?identifier=org.example.b", "?filter=identifier:org.*"] { #expect(try await found("/v1/requests\(query)") == []) }
      #expect(try await client.send("GET", "/v1/requests?problem=true").status == 403)
      let (mine, theirs) = (host.begin(try #require(RequestID(ids.own))), host.begin(try #require(RequestID(ids.other))))
      #expect(try await found("/v1/runs", "runs") == [mine.description])
      #expect(try await found("/v1/runs?identifier=org.example.b", "runs") == [])
      #expect(try await client.send("GET", "/v1/runs/\(mine)").status == 200)
      #expect(try await client.send("GET", "/v1/runs/\(theirs)").status == 404)
      #expect(try await client.send("GET", "/v1/runs/\(theirs)/logs").status == 404)
    }
  }

  @Test(
    "a request of another identifier is answered as one that does not exist",
    arguments: [
      ("GET", "", nil), ("GET", "/why", nil), ("DELETE", "", nil), ("POST", "/retry", nil), ("POST", "/discard", nil),
      ("POST", "/snooze", #"{"delay_ms": 1000}"#),
    ] as [(String, String, String?)])
  func items(_ method: String, _ suffix: String, _ body: String?) async throws {
    try await with { client, ids, host, _ in
      let refused = try await client.send(method, "/v1/requests/\(ids.other)\(suffix)", body)
      let id = try #require(RequestID(ids.other))
      let absent = RequestID(sequence: id.sequence + 1_000_000, origin: id.origin)
      let missing = try await client.send(method, "/v1/requests/\(absent)\(suffix)", body)
      #expect(refused.status == 404 && missing.status == 404)
      #expect(refused.message == missing.message?.replacing(absent.description, with: ids.other))
      #expect(try await host.request(id).state == .pending)
    }
  }

  @Test("submissions, simulations and releases are for identifiers in the scope, and wait only for requests in it")
  func submissions() async throws {
    try await with { client, ids, _, _ in
      #expect(try await client.send("POST", "/v1/requests", #"{"identifier": "com.example.c"}"#).status == 201)
      let refused = try await client.send("POST", "/v1/requests", #"[{"identifier": "com.example.c"}, {"identifier": "org.example.b"}]"#)
      #expect(refused.status == 403 && refused.field == "[1].identifier" && refused.message?.contains("com.example.*") == true)
      let edge = #"{"identifier": "com.example.c", "after": [{"request": "\#(ids.other)"}]}"#
      #expect(try await client.send("POST", "/v1/requests", edge).status == 400)
      #expect(try await client.send("POST", "/v1/simulate/launch", #"{"identifier": "org.example.b"}"#).status == 403)
      #expect(try await client.send("POST", "/v1/simulate/expire", #"{"identifier": "org.example.b"}"#).status == 403)
      #expect(try await client.send("POST", "/v1/plugins/org.example.b/release").status == 403)
      #expect(try await client.send("POST", "/v1/simulate/launch", #"{"identifier": "com.example.a"}"#).status == 200)
    }
  }

  @Test("what changes many requests names an identifier in the scope, or changes only those in it")
  func bulk() async throws {
    try await with { client, ids, host, _ in
      #expect(try await client.send("DELETE", "/v1/requests?tag=t").status == 403)
      #expect(try await client.send("DELETE", "/v1/requests?identifier=org.example.b").status == 403)
      #expect(try await client.send("POST", "/v1/requests/retry").status == 403)
      #expect(try await client.send("POST", "/v1/requests/discard?identifier=org.example.b").status == 403)
      let answer = try await client.send("POST", "/v1/requests/bulk", #"{"filter": "tag:t", "action": "cancel"}"#)
      #expect(answer.status == 200 && answer.node["done"]?.array?.compactMap(\.string) == [ids.own])
      #expect(try await host.request(try #require(RequestID(ids.other))).state == .pending)
      let none = try await client.send("POST", "/v1/requests/bulk", #"{"filter": "identifier:org.*", "action": "cancel"}"#)
      #expect(none.node["matched"]?.integer == 0)
    }
  }

  @Test("events are raised by names that the patterns cover")
  func events() async throws {
    try await with(.submit) { client, _, _, _ in
      #expect(try await client.send("POST", "/v1/events/com.example.orders", #"{"payload": {"n": 1}}"#).status == 200)
      let refused = try await client.send("POST", "/v1/events/orders")
      #expect(refused.status == 403 && refused.message?.contains("the event orders is not permitted") == true)
      #expect(try await client.send("POST", "/v1/events/com.exampl").status == 403)
    }
  }

  @Test("routes of the whole host refuse such a token and say why; the same role without a scope passes")
  func wholeHost() async throws {
    try await with { client, _, _, fixture in
      let whole = try fixture.client(.operate)
      for (method, path, body) in [
        ("GET", "/v1/status", nil), ("GET", "/v1/problems", nil), ("GET", "/v1/configuration", nil),
        ("PUT", "/v1/conditions", #"{"power": true}"#),
        ("DELETE", "/v1/conditions", nil), ("GET", "/v1/pauses", nil), ("POST", "/v1/pauses", #"{"filter": "tag:x"}"#),
        ("POST", "/v1/assertions", #"{"name": "a", "for_ms": 1000}"#),
      ] as [(String, String, String?)] {
        let refused = try await client.send(method, path, body)
        #expect(refused.status == 403 && refused.message?.contains("concerns the whole host") == true, "\(method) \(path)")
        #expect(try await whole.send(method, path, body).status < 300, "\(method) \(path)")
      }
      #expect(try await client.send("POST", "/v1/shutdown").status == 403)
      #expect(try await client.send("GET", "/v1/conditions").status == 200)
    }
  }

  @Test("the stream has only events of identifiers in the scope")
  func stream() async throws {
    try await with(.read) { client, ids, host, _ in
      let transfer = Transfer(client.request("GET", "/v1/stream"))
      let text = Mutex("")
      let (mine, theirs) = (try #require(RequestID(ids.own)), try #require(RequestID(ids.other)))
      _ = try await transfer.onThread { transfer throws(TransferFailure) in
        try transfer.run { _, part in
          let seen = text.withLock { text in
            text += String(decoding: part, as: UTF8.self)
            return text
          }
          if seen.contains(": subscribed"), !seen.contains("event:") {
            host.change(theirs, to: .running)
            host.change(mine, to: .running)
          }
          return !seen.contains(ids.own)
        }
      }
      #expect(text.withLock { $0.contains(ids.own) && !$0.contains(ids.other) })
    }
  }
}
