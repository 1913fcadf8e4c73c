import ControlTestSupport
import Glibc
import StrictText
import TaskModel
import Testing

@Suite("Pauses over HTTP") struct PauseServerTests {
  private func with(_ body: @escaping @Sendable (HTTPTestClient) async throws -> Void) async throws {
    try await ControlFixture.with(MemoryHost()) { try await body(HTTPTestClient(socket: $0.socket)) }
  }

  @Test("a pause says who made it, by the socket's peer, and what it holds; it is listed, in the status too, and ends by its number")
  func life() async throws {
    try await with { client in
      let body = #"{"filter": "tag:t", "until": "2030-01-01T00:00:00Z", "why": "maintenance"}"#
      let made = try await client.send("POST", "/v1/pauses", body)
      #expect(made.status == 201)
      #expect(made.node["id"]?.integer == 1 && made.node["waiting"]?.integer == 2 && made.node["running"]?.integer == 1)
      for shown in [
        made.node, try await client.send("GET", "/v1/pauses").node["pauses"]?.array?.first,
        try await client.send("GET", "/v1/status").node["pauses"]?.array?.first,
      ] {
        #expect(shown?["filter"]?.string == "tag:t" && shown?["why"]?.string == "maintenance")
        #expect(shown?["user_id"]?.integer == Int64(getuid()) && shown?["by"]?.string?.hasSuffix("user \(getuid()))") == true)
        #expect(shown?["until"]?.string == "2030-01-01T00:00:00Z" && shown?["since_unix_ms"]?.integer != nil)
      }
      let ended = try await client.send("DELETE", "/v1/pauses/1")
      #expect(ended.status == 200 && ended.node["ended"]?.array?.first?["id"]?.integer == 1)
      #expect(try await client.send("DELETE", "/v1/pauses/1").status == 404)
    }
  }

  @Test("a filter or all says what is paused, and what ends; a dry run pauses nothing")
  func forms() async throws {
    try await with { client in
      let dry = try await client.send("POST", "/v1/pauses", #"{"all": true, "dry_run": true}"#)
      #expect(dry.status == 200 && dry.node["dry_run"]?.bool == true && dry.node["id"] == nil && dry.node["waiting"]?.integer == 2)
      #expect(try await client.send("GET", "/v1/pauses").node["pauses"]?.array == [])
      let made = try await client.send("POST", "/v1/pauses", #"{"all": true}"#)
      #expect(made.status == 201 && made.node["filter"]?.string?.isEmpty == true)
      _ = try await client.send("POST", "/v1/pauses", #"{"filter": "tag:a  key:b"}"#)
      #expect(try await client.send("DELETE", "/v1/pauses?filter=tag:a%20key:b").node["ended"]?.array?.count == 1)
      #expect(try await client.send("DELETE", "/v1/pauses?all=true").node["ended"]?.array?.count == 1)
      #expect(try await client.send("DELETE", "/v1/pauses").status == 400)
      #expect(try await client.send("DELETE", "/v1/pauses?all=true&filter=").status == 400)
      #expect(try await client.send("DELETE", "/v1/pauses/x").status == 404)
    }
  }

  @Test(
    "what is wrong in the body is named",
    arguments: [
      ("", "filter", "say what is paused"), ("{}", "filter", "say what is paused"),
      (#"{"why": "w", "dry_run": true}"#, "filter", "say what is paused"),
      (#"{"all": false}"#, "filter", "say what is paused"), (#"{"filter": ""}"#, "filter", "is empty"),
      (#"{"filter": " \t"}"#, "filter", "is empty"), (#"{"filter": "tag:a", "all": true}"#, "all", "exclude each other"),
      (#"{"all": "yes"}"#, "all", "true or false"),
      ("[]", nil, "send an object"), (#"{"until": "tomorrow"}"#, "until", "is not a moment"), (#"{"until": 7}"#, "until", "a string"),
      (#"{"filter": []}"#, "filter", "a string"), (#"{"all": true, "why": ""}"#, "why", "1 to 1024 bytes"),
      (#"{"dry_run": 1}"#, "dry_run", "true or false"),
      (#"{"all": true, "until": "2001-01-01T00:00:00Z"}"#, "until", "a time to come"), (#"{"who": "x"}"#, "who", "there is no such member"),
    ] as [(String, String?, String)])
  func refusals(_ body: String, _ field: String?, _ sentence: String) async throws {
    try await with { client in
      let answer = try await client.send("POST", "/v1/pauses", body)
      #expect(answer.status == 400)
      #expect(answer.node["error"]?["field"]?.string == field)
      #expect(answer.node["error"]?["message"]?.string?.contains(sentence) == true, "\(answer.node)")
    }
  }
}
