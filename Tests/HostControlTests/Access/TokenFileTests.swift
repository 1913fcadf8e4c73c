import ControlTestSupport
import Foundation
import Glibc
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("The token file") struct TokenFileTests {
  private static func record(_ role: AccessRole = .read, _ patterns: [String] = []) throws -> (ControlToken, TokenRecord) {
    let token = try ControlToken.make()
    let scope = AccessScope(try patterns.map { try IdentifierPattern($0) })
    return (token, TokenRecord(of: token, role: role, scope: scope, created: WallTime(unixMilliseconds: 1_700_000_000_000)))
  }

  @Test("what is written is read; the file is private, and has no secret in it")
  func roundTrip() async throws {
    try await ControlFixture.withDirectory { directory in
      let file = TokenFile(path: directory + "/tokens")
      #expect(try file.read().isEmpty)
      let (token, record) = try Self.record(.submit, ["com.example.*", "org.example.sync"])
      let (_, other) = try Self.record(.operate)
      try file.change { $0.append(record) }
      try file.change { $0.append(other) }
      #expect(try file.read() == [record, other])
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      let text = try String(contentsOfFile: file.path, encoding: .utf8)
      #expect(text.contains(token.id) && !text.contains(token.text) && !text.contains(token.text.suffix(43)))
      try file.change { $0.removeAll { $0.id == token.id } }
      #expect(try file.read() == [other])
    }
  }

  @Test("a token is 256 random bits; only its own text is accepted, and its description hides the secret")
  func tokens() throws {
    let token = try ControlToken.make()
    #expect(token.text.utf8.count == 55 && token.text.hasPrefix("th_\(token.id)_"))
    #expect(ControlToken(token.text)?.id == token.id)
    #expect(ControlToken(token.text)?.hash == token.hash)
    #expect("\(token)" == "th_\(token.id)_•••")
    #expect(try ControlToken.make().text != token.text)
    for wrong in ["", "th_", token.text + "x", String(token.text.dropLast()), "TH" + token.text.dropFirst(2), token.text.dropLast() + " "] {
      #expect(ControlToken(wrong) == nil, "\(wrong)")
    }
    #expect(
      ControlToken.areEqual([1, 2, 3], [1, 2, 3]) && !ControlToken.areEqual([1, 2, 3], [1, 2, 4]) && !ControlToken.areEqual([], [0]))
  }

  @Test(
    "a line that is wrong is named",
    arguments: [
      ("x", "line 2: it is not JSON"), ("[]", "line 2: an object is expected"), (#"{"id": "a"}"#, "line 2: id"),
      (#"{"id": "abcdefgh", "role": "root"}"#, "line 2: role"), (#"{"id": "abcdefgh", "role": "read", "sha256": "00"}"#, "line 2: sha256"),
      (#"{"id": "abcdefgh", "secret": "s"}"#, "line 2: there is no member \"secret\""),
      (#"{"id": "abcdefgh", "role": "read", "sha256": "HASH", "created": "now"}"#, "line 2: created"),
      (
        #"{"id": "abcdefgh", "role": "read", "sha256": "HASH", "created": "2026-01-01T00:00:00Z", "identifiers": []}"#,
        "line 2: identifiers"
      ),
      (
        #"{"id": "abcdefgh", "role": "read", "sha256": "HASH", "created": "2026-01-01T00:00:00Z", "identifiers": ["*.x"]}"#,
        "line 2: identifiers"
      ),
    ])
  func flaws(_ line: String, _ message: String) async throws {
    try await ControlFixture.withDirectory { directory in
      let file = TokenFile(path: directory + "/tokens")
      let (_, record) = try Self.record()
      try file.change { $0.append(record) }
      let handle = try #require(FileHandle(forWritingAtPath: file.path))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(line.replacing("HASH", with: String(repeating: "0", count: 64)).utf8))
      let error = #expect(throws: TokenFileError.self) { try file.read() }
      #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }
  }

  @Test("a file that others may read, a link, and a directory are refused, with the remedy")
  func untrusted() async throws {
    try await ControlFixture.withDirectory { directory in
      let file = TokenFile(path: directory + "/tokens")
      try file.change { $0.append(try Self.record().1) }
      chmod(file.path, 0o640)
      #expect(#expect(throws: TokenFileError.self) { try file.read() }?.description.contains("chmod 600") == true)
      symlink(file.path, directory + "/link")
      #expect(#expect(throws: TokenFileError.self) { try TokenFile(path: directory + "/link").read() } != nil)
      #expect(#expect(throws: TokenFileError.self) { try TokenFile(path: directory).read() } != nil)
    }
  }

  @Test("changes at the same time are all made")
  func concurrent() async throws {
    try await ControlFixture.withDirectory { directory in
      let file = TokenFile(path: directory + "/tokens")
      let records = try (0..<20).map { _ in try Self.record().1 }
      await withTaskGroup { group in
        for record in records {
          group.addTask {
            await withCheckedContinuation { continuation in
              Thread.detachNewThread {
                try? file.change { $0.append(record) }
                continuation.resume()
              }
            }
          }
        }
      }
      #expect(Set(try file.read()) == Set(records))
    }
  }
}
