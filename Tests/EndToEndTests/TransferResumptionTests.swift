import Foundation
import TestSupport
import Testing

/// Uploads that break, with servers that support draft-ietf-httpbis-resumable-upload and with others.
@Suite("Resumable uploads", .timeLimit(.minutes(10)))
struct TransferResumptionTests {
  private static let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 251 ^ $0) })

  /// A file to upload, at a server that supports it there or elsewhere.
  private func url(_ at: TransferSurroundings, _ name: String, _ more: String, at place: RangeServer? = nil) -> String {
    let place = (place ?? at.server).address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "\(at.server.address)/\(name)?resumable=\(place)&\(more)"
  }

  private func sent(_ at: TransferSurroundings, _ name: String) async throws -> [String] {
    try await at.server.log().filter { $0.path.hasSuffix("/\(name)") || $0.path.contains("/\(name)?") }
      .filter { !$0.path.hasPrefix("/count") && !$0.path.hasPrefix("/kept") }.map {
        "\($0.method) \($0.headers["Upload-Offset"] ?? "") \($0.body)"
      }
  }

  @Test("an upload that broke goes on where the server says, and what is lost is only the answer's way")
  func resumed() async throws {
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/big", Self.content)
      let cases = [
        ("broken", "break=1000000", ["PUT  1000000", "HEAD  0", "PATCH 1000000 2000000"]),
        (
          "twice", "break=1000000&again=500000",
          ["PUT  1000000", "HEAD  0", "PATCH 1000000 500000", "HEAD  0", "PATCH 1500000 1500000"]
        ),
        ("lost", "lost=1", ["PUT  3000000", "HEAD  0"]),
        ("whole", "break=3000000", ["PUT  3000000", "HEAD  0"]),
        ("nothing", "break=0", ["PUT  0", "HEAD  0", "PATCH 0 3000000"]),
        ("forgotten", "break=1000000&forget=1", ["PUT  1000000", "HEAD  0", "PUT  3000000"]),
      ]
      for (name, more, expected) in cases {
        let result = try await at.transfer("--from", at.file("big"), url(at, name, more))
        #expect(result.status == 0, "\(name): \(result)")
        let sent = try await sent(at, name)
        #expect(sent == expected, "\(name)")
        if expected.last?.hasSuffix("000000") == true { #expect(try await at.server.get("/kept/\(name)") == Self.content, "\(name)") }
      }
    }
  }

  @Test("a server that knows nothing of it gets the whole file again")
  func unsupported() async throws {
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/big", Self.content)
      let result = try await at.transfer("--from", at.file("big"), "\(at.server.address)/plain?status=503&times=1")
      #expect(result.status == 0, "\(result)")
      #expect(try await sent(at, "plain") == ["PUT  3000000", "PUT  3000000"])
    }
  }

  @Test(
    "the place to go on outlives kill -9 of the host; a file that has changed meanwhile is sent from its first byte",
    arguments: [false, true])
  func killed(isChanged: Bool) async throws {
    try await TransferSurroundings.run("[retry]\ninitial = \"1h\"") { at in
      try at.host.directory.file("files/big", Self.content)
      let submitted = try await at.host.cli("transfers", "submit", "--from", at.file("big"), url(at, "big", "break=1000000"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      _ = try await at.host.request(id) { $0["state"]?.string == "pending" && $0["last_outcome"]?.string == "retried" }
      await at.host.kill()
      let content = isChanged ? Self.content.dropLast() + Data([7, 8]) : Self.content
      if isChanged { try at.host.directory.file("files/big", content) }
      try await at.host.start()
      _ = try await at.host.cli("simulate", "launch", "org.taskhost.transfers")
      try await at.host.request(id, is: "succeeded")
      let sent = try await sent(at, "big")
      #expect(sent == ["PUT  1000000"] + (isChanged ? ["PUT  3000001"] : ["HEAD  0", "PATCH 1000000 2000000"]))
      #expect(try await at.server.get("/kept/big") == content)
    }
  }

  @Test("headers and token do not go to another origin that the server names for the rest")
  func elsewhere() async throws {
    let other = try await RangeServer.start()
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/big", Self.content)
      try at.host.directory.file("files/token", "abc.def")
      let result = try await at.transfer(
        "--from", at.file("big"), url(at, "big", "break=1000000", at: other), "--header", "X-Key: 1", "--bearer-token-file",
        at.file("token"))
      #expect(result.status == 0, "\(result)")
      let asked = try await other.log().filter { $0.path == "/upload/big" }
      #expect(asked.map(\.method) == ["HEAD"], "\(asked)")
      #expect(asked.allSatisfy { $0.headers["X-Key"] == nil && $0.headers["Authorization"] == nil })
      #expect(try await at.server.requests("big").allSatisfy { $0.headers["X-Key"] == "1" })
      #expect(try await at.server.get("/kept/big") == Self.content)
    }
    await other.stop()
  }
}
