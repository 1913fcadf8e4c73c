import Foundation
import StoreTestSupport
import Testing

@testable import ValueSealing

@Suite("The file of a store's keys") struct KeyFileTests {
  private let directory = Result { try TemporaryDirectory() }

  private func path(_ name: String = "store.key") throws -> String { try directory.get().path + "/" + name }

  private func write(_ text: String, mode: mode_t = 0o600) throws -> String {
    let path = try path()
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    chmod(path, mode)
    return path
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("is made with mode 0600 and one key, and takes new ones in front")
  func rotation() throws {
    let path = try path()
    let first = try KeyFile.addKey(to: path)
    #expect(first.earlier == [])
    var info = stat()
    #expect(stat(path, &info) == 0 && info.st_mode & 0o7777 == 0o600)
    let second = try KeyFile.addKey(to: path)
    #expect(second.earlier == [first.id] && second.id != first.id)
    #expect(try KeyFile.read(path).ids == [second.id, first.id])
    #expect(try KeyFile.read(path).key(first.id)?.id == first.id)
    // Nothing is left beside it.
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.get().path) == ["store.key"])
  }

  @Test(
    "is refused with what is wrong and what to do",
    arguments: [
      ("", "has no key"), ("# only words\n", "has no key"), ("abc\n", "line 1 must have the name"),
      ("0123456789abcdef\n", "line 1 must have the name"), ("# x\n0123456789abcdef AAAA\n", "line 2 has a key that is not 32 bytes"),
      ("0123456789abcdef AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "line 1 has a key that is not the one of that name"),
    ])
  func flaws(_ text: String, _ observed: String) throws {
    let path = try write(text)
    let error = #expect(throws: KeyFileError.self) { try KeyFile.read(path) }
    #expect(error?.observed.hasPrefix(observed) == true && error?.path == path && error?.remedy.isEmpty == false)
    // Nothing of a key is told. The path may have the same letters by chance.
    #expect(error.map { "\($0)".replacing(path, with: "").contains("AAAA") } == false)
  }

  @Test("is refused if others could have read it, if it is too large, no file, or missing")
  func untrusted() throws {
    _ = try KeyFile.addKey(to: path())
    for mode: mode_t in [0o640, 0o604, 0o660, 0o700 | 0o010] {
      chmod(try path(), mode)
      let error = try #require(throws: KeyFileError.self) { try KeyFile.read(path()) }
      #expect(error.observed.contains("can be used by group or others") && error.remedy.contains("chmod 600"))
      #expect(throws: KeyFileError.self) { try KeyFile.addKey(to: path()) }
    }
    #expect(throws: KeyFileError.self) { try KeyFile.read(path("missing")) }
    mkdir(try path("folder"), 0o700)
    mkfifo(try path("fifo"), 0o600)
    for name in ["folder", "fifo"] {
      #expect(throws: KeyFileError.self) { try KeyFile.read(path(name)) }
      #expect(throws: KeyFileError.self) { try KeyFile.addKey(to: path(name)) }
    }
    let large = try write(String(repeating: "#", count: 70_000))
    #expect(throws: KeyFileError.self) { try KeyFile.read(large) }
  }

  @Test("may have the mode of a credential of systemd only as one, and only if it is root's")
  func credential() throws {
    _ = try KeyFile.addKey(to: path())
    chmod(try path(), 0o440)
    #expect(throws: KeyFileError.self) { try KeyFile.read(path()) }
    let isRoots = geteuid() == 0 && getegid() == 0
    let file = try path()
    let isRead = (try? KeyFile.read(file, from: .credential)) != nil
    #expect(isRead == isRoots)
    chmod(try path(), 0o444)
    #expect(throws: KeyFileError.self) { try KeyFile.read(path(), from: .credential) }
  }

  @Test("keeps its owner when root rotates its keys, and is read by root for that user only", .enabled(if: geteuid() == 0))
  func owner() throws {
    let path = try path()
    _ = try KeyFile.addKey(to: path)
    chown(path, 1234, 1234)
    #expect(throws: KeyFileError.self) { try KeyFile.read(path) }
    _ = try KeyFile.addKey(to: path)
    var info = stat()
    #expect(stat(path, &info) == 0 && info.st_uid == 1234 && info.st_mode & 0o7777 == 0o600)
    #expect(try KeyFile.read(path, user: 1234).keys.count == 2)
    #expect(throws: KeyFileError.self) { try KeyFile.read(path, user: 1235) }
  }

  @Test("has each key once, and at most 64")
  func many() throws {
    let path = try path()
    _ = try KeyFile.addKey(to: path)
    let line = try #require(try text(path).split(separator: "\n").last)
    _ = try write("\(line)\n\(line)\n")
    let error = #expect(throws: KeyFileError.self) { try KeyFile.read(path) }
    #expect(error?.observed.contains("repeats the key") == true)
    unlink(path)
    for _ in 0..<64 { _ = try KeyFile.addKey(to: path) }
    #expect(throws: KeyFileError.self) { try KeyFile.addKey(to: path) }
    #expect(try KeyFile.read(path).keys.count == 64)
  }
}
