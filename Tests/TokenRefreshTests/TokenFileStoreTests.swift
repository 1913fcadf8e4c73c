import Foundation
import StrictText
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Token file") struct TokenFileStoreTests {
  private static let unreachable = "http://127.0.0.1:1/"

  @Test("a file others may read is refused with the remedy", arguments: [0o640, 0o604, 0o620, 0o777])
  func mode(_ mode: Int) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.path("tokens.json"))
    let report = try await fixture.run([fixture.account(endpoint: Self.unreachable)])
    #expect(report.only?.result == .failed)
    #expect(report.message.contains("mode 0\(String(mode, radix: 8))"))
    #expect(report.message.contains("chmod 600"))
  }

  @Test("a symlink, a folder and a FIFO are refused, without blocking")
  func kinds() async throws {
    let fixture = try Fixture()
    try fixture.signIn("real.json")
    try FileManager.default.createSymbolicLink(atPath: fixture.path("link.json"), withDestinationPath: fixture.path("real.json"))
    try FileManager.default.createDirectory(atPath: fixture.path("folder.json"), withIntermediateDirectories: false)
    #expect(mkfifo(fixture.path("fifo.json"), 0o600) == 0)
    let accounts = ["link", "folder", "fifo"].map { fixture.account($0, endpoint: Self.unreachable) }
    let report = try await fixture.run(accounts)
    #expect(report.outcome == .failure)
    #expect(report.accounts.map(\.result) == [.failed, .failed, .failed])
    #expect(report.message.contains("a symlink"))
    #expect(report.message.contains("not a regular file"))
  }

  @Test(
    "content that is no token file is refused, and none of it is quoted",
    arguments: [
      "", "[]", #"{"access_token": "\#(Fixture.accessToken)""#, #"{"expires_at": "\#(Fixture.accessToken)"}"#,
      #"{"expires_at": 1767225600000}"#,
    ])
  func content(_ text: String) async throws {
    let fixture = try Fixture()
    try fixture.write(text, to: "tokens.json")
    let report = try await fixture.run([fixture.account(endpoint: Self.unreachable)])
    #expect(report.only?.result == .failed)
    #expect(report.message.contains("repair the file"))
  }

  @Test("a crash between writing and renaming loses nothing: the next run takes the new tokens over")
  func recovery() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let store = try TokenFileStore(path: fixture.path("tokens.json"))
    let snapshot = try store.read()
    _ = try store.prepare(replacing: snapshot)
    let temporary = try #require(try fixture.names.first { $0.hasSuffix(".taskhost-new") })
    // As a run leaves it that is killed after writing, before cutting off what was reserved.
    let expires = Int(TestHost.start.timeIntervalSince1970) + 3600
    let text = #"{"access_token": "\#(Fixture.newAccessToken)", "refresh_token": "\#(Fixture.newRefreshToken)", "expires_at": \#(expires)}"#
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.path(temporary)))
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()

    let report = try await fixture.run([fixture.account(endpoint: Self.unreachable)])
    #expect(report.outcome == .success)
    #expect(report.only?.detail == "recovered from an interrupted run")
    #expect(try fixture.text() == text)
    #expect(try fixture.names == [".tokens.json.lock", "tokens.json"])
  }

  @Test("what an interrupted run left of no use is removed: half written, or for a file that has changed since")
  func leftovers() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let store = try TokenFileStore(path: fixture.path("tokens.json"))
    _ = try store.prepare(replacing: try store.read())
    try fixture.write(#"{"access_token": "x", "refresh_token": "y"}"#, to: ".tokens.json.0123456789abcdef.taskhost-new")
    try fixture.write("mine", to: ".other.json.0123456789abcdef.taskhost-new")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .success)
      #expect(server.requests.first?.form["refresh_token"] == Fixture.refreshToken)
    }
    #expect(try fixture.names == [".other.json.0123456789abcdef.taskhost-new", ".tokens.json.lock", "tokens.json"])
  }

  @Test("where the answer could not be stored, the server is not asked")
  func noRoom() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let store = try TokenFileStore(path: fixture.path("tokens.json"))
    let digest = try store.read().digest
    // A folder in the place of the temporary file: it can neither be removed nor replaced.
    try FileManager.default.createDirectory(
      atPath: fixture.path(".tokens.json.\(digest.prefix(16)).taskhost-new"), withIntermediateDirectories: false)
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(report.outcome == .failure)
      #expect(report.message.contains("the server was not asked"))
      #expect(server.requests.isEmpty)
    }
  }

  @Test("tokens that could not be put in place are reported loudly, kept, and taken over by the next run")
  func notStored() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let (file, aside) = (fixture.path("tokens.json"), fixture.path("aside"))
    try await TestServer.serving({ _ in
      // While the server answers, a folder takes the place of the token file.
      try? FileManager.default.moveItem(atPath: file, toPath: aside)
      try? FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
      return .json(Fixture.rotation)
    }) { server in
      let accounts = [fixture.account(endpoint: server.address)]
      let report = try await fixture.run(accounts)
      #expect(report.outcome == .failure)
      #expect(report.message.contains("NEW TOKENS NOT STORED"))
      #expect(fixture.host.log.contains { $0.hasPrefix("error: mail: failed: NEW TOKENS NOT STORED") })
      try FileManager.default.removeItem(atPath: file)
      try FileManager.default.moveItem(atPath: aside, toPath: file)
      #expect(try await fixture.run(accounts).outcome == .success)
      #expect(server.requests.count == 1)
    }
    #expect(try fixture.members()["refresh_token"] == .string(Fixture.newRefreshToken))
  }

  @Test("a reader sees the old content or the new, never a part")
  func atomic() async throws {
    let fixture = try Fixture()
    try fixture.signIn(extra: #""pad": "\#(String(repeating: "p", count: 100_000))""#)
    let path = fixture.path("tokens.json")
    let store = try TokenFileStore(path: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 1...200 {
          let seen = try TokenFile(json: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
          #expect(seen.accessToken != nil)
        }
      }
      group.addTask {
        for round in 1...50 {
          let current = try store.read()
          var file = current.file
          let grant = try #require(TokenGrant(["access_token": .string("round \(round)"), "expires_in": .integer(60)]))
          file.apply(grant, issued: TestHost.start)
          try store.prepare(replacing: current).commit(try file.encoded())
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.read().file.accessToken == Secret("round 50"))
    #expect(try fixture.names == ["tokens.json"])
  }
}
