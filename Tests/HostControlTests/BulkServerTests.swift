import ControlTestSupport
import StrictText
import TaskModel
import Testing

@Suite("Bulk actions over HTTP") struct BulkServerTests {
  private func with(_ body: @escaping @Sendable (HTTPTestClient, [String]) async throws -> Void) async throws {
    let host = MemoryHost()
    var ids: [String] = []
    for key in [nil, "k", nil] as [String?] {
      let id = RequestID(sequence: host.newSequence(), origin: 1)
      var request = TaskRequest(identifier: try TaskIdentifier("a"))
      (request.tags, request.uniqueKey) = (["t"], key)
      host.put(RequestRecord(id: id, request: request, state: .failed, due: .distantFuture, submitted: WallTime(unixMilliseconds: 0)))
      ids.append(id.description)
    }
    let made = ids
    try await ControlFixture.with(host) { try await body(HTTPTestClient(socket: $0.socket), made) }
  }

  @Test("a dry run counts and changes nothing; the action says what was done, and what was refused and why")
  func retry() async throws {
    try await with { client, ids in
      let dry = try await client.send("POST", "/v1/requests/bulk", #"{"filter": "tag:t", "action": "retry", "dry_run": true}"#)
      #expect(dry.status == 200)
      #expect(dry.node["matched"]?.integer == 3 && dry.node["changes"]?.integer == 2)
      #expect(dry.node["refused"]?.array?.map { $0["id"]?.string } == [ids[1]])
      #expect(dry.node["reasons"]?.array?.map { $0["reason"]?.string } == ["it has a key"])
      #expect(dry.node["reasons"]?.array?.first?["count"]?.integer == 1)
      #expect(dry.node["done"]?.array == [])
      #expect(try await client.send("GET", "/v1/requests/\(ids[0])").node["state"]?.string == "failed")
      let answer = try await client.send("POST", "/v1/requests/bulk", #"{"filter": "tag:t", "action": "retry"}"#)
      #expect(answer.node["action"]?.string == "retry")
      #expect(Set(answer.node["done"]?.array?.compactMap(\.string) ?? []) == [ids[0], ids[2]])
      #expect(answer.node["refused"]?.array?.map { $0["id"]?.string } == [ids[1]])
      #expect(answer.node["refused"]?.array?.first?["message"]?.string == "it has the key k")
      #expect(answer.node["changes"]?.integer == 2)
      #expect(answer.node["next"] == nil)
    }
  }

  @Test(
    "what is wrong in the body is named",
    arguments: [
      ("[]", nil, "send an object"), (#"{"action": "retry"}"#, "filter", "is missing"), (#"{"filter": "tag:t"}"#, "action", "is missing"),
      (#"{"filter": "tag:t", "action": "retri"}"#, "action", "did you mean \"retry\"?"),
      (#"{"filter": "tags:t", "action": "retry"}"#, "filter", "at character 1: \"tags\" is not a word of filters; did you mean \"tag\"?"),
      (#"{"filter": "", "action": "cancel"}"#, "filter", "every request is meant"),
      (#"{"filter": "state:succeeded", "action": "cancel"}"#, "filter", "only for requests in one of the states blocked, pending, running"),
      (#"{"filter": "tag:t", "action": "snooze"}"#, "delay_ms", "is missing"),
      (#"{"filter": "tag:t", "action": "snooze", "delay_ms": -1}"#, "delay_ms", "outside"),
      (#"{"filter": "tag:t", "action": "retry", "delay_ms": 1}"#, "delay_ms", "only for snooze"),
      (#"{"filter": "tag:t", "action": "retry", "limit": 10001}"#, "limit", "1 to 10000"),
      (#"{"filter": "tag:t", "action": "retry", "after": "x"}"#, "after", "is not a cursor"),
      (#"{"filter": "tag:t", "action": "retry", "dry_run": 1}"#, "dry_run", "true or false"),
      (#"{"filter": "tag:t", "action": "retry", "dry": true}"#, "dry", "there is no such member"),
      (#"{"filter": 7, "action": "retry"}"#, "filter", "a string is expected"),
    ] as [(String, String?, String)])
  func refusals(_ body: String, _ field: String?, _ sentence: String) async throws {
    try await with { client, _ in
      let answer = try await client.send("POST", "/v1/requests/bulk", body)
      #expect(answer.status == 400)
      #expect(answer.node["error"]?["field"]?.string == field)
      #expect(answer.node["error"]?["message"]?.string?.contains(sentence) == true, "\(answer.node)")
    }
  }
}
