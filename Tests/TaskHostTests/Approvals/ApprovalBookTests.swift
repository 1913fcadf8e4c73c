import Foundation
import Glibc
import TaskModel
import TestSupport
import Testing

@testable import TaskHost

/// The file of approvals, whatever has become of it.
@Suite("Approvals on disk") struct ApprovalBookTests {
  private static func approval(_ identifier: String = "a.b", _ text: String = "") throws -> Approval {
    let configuration = try HostConfiguration.parse(text, file: "/etc/t.toml")
    let identifier = try TaskIdentifier(identifier)
    return Approval(
      identifier: identifier, permissions: PluginPermissions(of: [identifier], in: configuration),
      time: WallTime(unixMilliseconds: 1_700_000_000_000), by: "user root")
  }

  private static let rich = """
    [plugin."a.b"]
    environment = ["TOKEN"]
    may_submit = ["c.*"]
    may_notify = ["door"]
    may_transfer = true
    may_wake = true
    [plugin."a.b".limits]
    memory = "1GiB"
    [plugin."a.b".entitlements]
    read = ["/srv/ü \\"x\\""]
    write = ["/var/a"]
    network = [443]
    exec = true
    """

  private func folder(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "taskhost-approvals-\(UUID())").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test("what was recorded is read again, by this book and another one; a later approval takes the place of the former")
  func kept() throws {
    try folder { path in
      let book = ApprovalBook(path: path + "/approvals.json")
      #expect(try book.read().isEmpty)
      let (first, second) = (try Self.approval("a.b", Self.rich), try Self.approval("c.d"))
      try book.record(first)
      try book.record(second)
      #expect(try ApprovalBook(path: book.path).read() == [first.identifier: first, second.identifier: second])
      let less = try Self.approval("a.b")
      try book.record(less)
      #expect(try book.read()[less.identifier] == less)
      var revoked = first
      revoked.isRevoked = true
      try book.record(revoked)
      #expect(try ApprovalBook(path: book.path).read()[first.identifier] == revoked)
      #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["approvals.json"])
      var status = stat()
      #expect(stat(book.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }

  @Test("a file that is cut short at any byte approves nothing, is not replaced, and the error names it")
  func cut() throws {
    try folder { path in
      let book = ApprovalBook(path: path + "/approvals.json")
      try book.record(Self.approval("a.b", Self.rich))
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: book.path)))
      // The last byte ends the line.
      for count in 0..<(bytes.count - 1) { #expect(throws: ApprovalFlaw.self) { try ApprovalBook.parse(Array(bytes.prefix(count))) } }
      let half = Data(bytes.prefix(bytes.count / 2))
      try half.write(to: URL(filePath: book.path))
      #expect { try book.read() } throws: { "\($0)".contains(book.path) && "\($0)".contains("move it away") }
      #expect(throws: ApprovalBookError.self) { try book.record(Self.approval()) }
      #expect(try Data(contentsOf: URL(filePath: book.path)) == half)
    }
  }

  @Test(
    "a file of a newer version, or of another program, or with what is unknown, approves nothing",
    arguments: [
      "{\"format\":2,\"approvals\":[]}", "[]", "{}", "{\"format\":1}", "{\"format\":1,\"approvals\":[{\"plugin\":\"a.b\"}]}",
      "{\"format\":\"1\",\"approvals\":[]}", "null", "",
    ])
  func foreign(_ text: String) {
    #expect(throws: ApprovalFlaw.self) { try ApprovalBook.parse(Array(text.utf8)) }
  }

  @Test("any changed byte is either refused, or another approval than before: nothing is widened silently")
  func changed() throws {
    try folder { path in
      let book = ApprovalBook(path: path + "/approvals.json")
      let approval = try Self.approval("a.b", Self.rich)
      try book.record(approval)
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: book.path)))
      for index in bytes.indices {
        for byte in [0, 0x20, 0x22, 0x2a, 0x5c, 0x7d, 0xff] as [UInt8] where bytes[index] != byte {
          var other = bytes
          other[index] = byte
          // It must not trap, whatever it says.
          _ = try? ApprovalBook.parse(other)
        }
      }
      let extra = String(decoding: bytes, as: UTF8.self).replacing("\"thread\":false", with: "\"thread\":false,\"root\":true")
      #expect(throws: ApprovalFlaw.self) { try ApprovalBook.parse(Array(extra.utf8)) }
    }
  }

  @Test("a link, a pipe, a folder, or a file that others may write is refused, without waiting")
  func places() throws {
    try folder { path in
      let (file, book) = (path + "/approvals.json", ApprovalBook(path: path + "/approvals.json"))
      try book.record(Self.approval())
      #expect(chmod(file, 0o660) == 0)
      #expect(throws: ApprovalBookError.self) { try book.read() }
      #expect(rename(file, path + "/other") == 0 && symlink("other", file) == 0)
      #expect(throws: ApprovalBookError.self) { try book.read() }
      #expect(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
      #expect(throws: ApprovalBookError.self) { try book.read() }
      #expect(unlink(file) == 0 && mkdir(file, 0o700) == 0)
      #expect(throws: ApprovalBookError.self) { try book.record(Self.approval()) }
    }
  }
}
