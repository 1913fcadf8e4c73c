import ControlTestSupport
import StrictText
import TaskModel
import Testing

@Suite("Retrying dead letters over HTTP") struct RetryAllTests {
  /// Puts dead letters into `host`, the oldest first.
  private static func put(_ requests: [TaskRequest], into host: MemoryHost) -> [String] {
    requests.map { request in
      let id = RequestID(sequence: host.newSequence(), origin: 1)
      let then = WallTime(unixMilliseconds: 0)
      host.put(RequestRecord(id: id, request: request, state: .failed, due: then, submitted: then))
      return id.description
    }
  }

  private static func request(_ identifier: String, tags: [String] = [], key: String? = nil) throws -> TaskRequest {
    var request = TaskRequest(identifier: try TaskIdentifier(identifier))
    (request.tags, request.uniqueKey) = (tags, key)
    return request
  }

  private func with(
    _ requests: [TaskRequest], _ body: @escaping @Sendable (HTTPTestClient, [String]) async throws -> Void
  ) async throws {
    let host = MemoryHost()
    let ids = Self.put(requests, into: host)
    try await ControlFixture.with(host) { try await body(HTTPTestClient(socket: $0.socket), ids) }
  }

  @Test("all dead letters are retried; what is refused is named with the reason")
  func all() async throws {
    try await with([Self.request("a"), Self.request("a", key: "k"), Self.request("b")]) { client, ids in
      let answer = try await client.send("POST", "/v1/requests/retry")
      #expect(answer.status == 200)
      #expect(answer.node["retried"]?.array?.map(\.string) == [ids[0], ids[2]])
      let refused = answer.node["refused"]?.array ?? []
      #expect(refused.map { $0["id"]?.string } == [ids[1]])
      #expect(refused.first?["message"]?.string == "another holds the key")
      #expect(answer.node["next"] == nil)
      let again = try await client.send("POST", "/v1/requests/retry")
      #expect(again.node["retried"]?.array?.isEmpty == true)
    }
  }

  @Test("identifier and tag choose among them, as in the listing")
  func filters() async throws {
    let requests = try [Self.request("a", tags: ["x"]), Self.request("a"), Self.request("b", tags: ["x"])]
    try await with(requests) { client, ids in
      let one = try await client.send("POST", "/v1/requests/retry?identifier=a&tag=x")
      #expect(one.node["retried"]?.array?.map(\.string) == [ids[0]])
      let two = try await client.send("POST", "/v1/requests/retry?tag=x")
      #expect(two.node["retried"]?.array?.map(\.string) == [ids[2]])
    }
  }

  @Test("where there are more than the limit, the answer says where the rest begins")
  func pages() async throws {
    try await with((0..<5).map { _ in try Self.request("a") }) { client, ids in
      let one = try await client.send("POST", "/v1/requests/retry?limit=2")
      #expect(one.node["retried"]?.array?.map(\.string) == [ids[0], ids[1]] && one.node["next"]?.string?.hasPrefix(ids[1]) == true)
      let next = try #require(one.node["next"]?.string)
      let two = try await client.send("POST", "/v1/requests/retry?limit=3&after=\(next)")
      #expect(two.node["retried"]?.array?.count == 3 && two.node["next"] == nil)
    }
  }

  @Test(
    "what is not understood is refused with the field",
    arguments: [
      ("?state=failed", "state"), ("?limit=0", "limit"), ("?limit=10001", "limit"), ("?after=x", "after"),
      ("?identifier=a%20b", "identifier"), ("?tag=a&tag=b", "tag"),
    ])
  func refused(_ query: String, _ field: String) async throws {
    try await with([]) { client, _ in
      let answer = try await client.send("POST", "/v1/requests/retry\(query)")
      #expect(answer.status == 400 && answer.node["error"]?["field"]?.string == field, "\(answer.message ?? "")")
    }
  }

  @Test("the path answers POST alone")
  func method() async throws {
    try await with([]) { client, _ in
      for method in ["GET", "DELETE"] {
        let answer = try await client.send(method, "/v1/requests/retry")
        #expect(answer.status == 405)
      }
    }
  }
}
