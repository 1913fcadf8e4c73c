import Foundation
import HostThreads
import Testing

@Suite("Files") struct FilesTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "files-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  @Test("a file is made whole, with its mode, and not over one that is there")
  func making() throws {
    try withFolder { folder in
      let file = folder + "/a"
      try WholeFile.make(Array("first".utf8), at: file, mode: 0o640)
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect(attributes[.posixPermissions] as? Int == 0o640)
      let failure = #expect(throws: WholeFile.Failure.self) { try WholeFile.make([], at: file, mode: 0o600) }
      #expect(failure?.description == "\(file) cannot be created: File exists")
      #expect(try WholeTransfer.read(file, atMost: 100) == Array("first".utf8))
    }
  }

  @Test("a file takes the place of another in one step, and leaves none beside it")
  func replacing() throws {
    try withFolder { folder in
      let file = folder + "/a"
      for text in ["one", "two"] {
        try WholeFile.replace(Array(text.utf8), at: file, by: file + ".new", mode: 0o600)
        try WholeFile.settle(file)
        #expect(try WholeTransfer.read(file, atMost: 100) == Array(text.utf8))
      }
      #expect(try DirectoryNames.list(at: folder) == ["a"])
    }
  }

  @Test("where a file cannot take the place of what is there, that stays and nothing is left beside it")
  func irreplaceable() throws {
    try withFolder { folder in
      try FileManager.default.createDirectory(atPath: folder + "/a/b", withIntermediateDirectories: true)
      #expect(throws: WholeFile.Failure.self) { try WholeFile.replace([1], at: folder + "/a", by: folder + "/a.new", mode: 0o600) }
      #expect(try DirectoryNames.list(at: folder) == ["a"])
    }
  }

  @Test("a file is read to its limit, a large one in several parts")
  func reading() throws {
    try withFolder { folder in
      let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
      try WholeFile.make(bytes, at: folder + "/a", mode: 0o600)
      #expect(try WholeTransfer.read(folder + "/a", atMost: .max) == bytes)
      #expect(try WholeTransfer.read(folder + "/a", atMost: 70_000) == Array(bytes.prefix(70_000)))
      #expect(throws: ErrorNumber(ENOENT)) { try WholeTransfer.read(folder + "/b", atMost: 1) }
    }
  }

  @Test("the names in a directory are listed without the two that every one has, and with names that are not UTF-8")
  func listing() throws {
    try withFolder { folder in
      for name in ["b", "a", ".c"] { try WholeFile.make([], at: folder + "/" + name, mode: 0o600) }
      #expect(try DirectoryNames.list(at: folder) == [".c", "a", "b"])
      let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      defer { close(descriptor) }
      close(openat(descriptor, [CChar(bitPattern: 0xFF), 0], O_WRONLY | O_CREAT, 0o600))
      let names = try DirectoryNames.list(in: descriptor)
      #expect(names.sorted { $0.lexicographicallyPrecedes($1) } == [Array(".c".utf8), Array("a".utf8), Array("b".utf8), [0xFF]])
      // The descriptor's position is where it was: all are there again.
      #expect(try DirectoryNames.list(in: descriptor, where: { $0.first != UInt8(ascii: ".") }).count == 3)
      #expect(try DirectoryNames.list(in: descriptor, atMost: 2).count == 2)
      #expect(throws: ErrorNumber(ENOENT)) { try DirectoryNames.list(at: folder + "/none") }
    }
  }
}
