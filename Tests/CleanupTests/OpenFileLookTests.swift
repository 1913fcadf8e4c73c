import Glibc
import OpenFiles
import TaskModel
import TestSupport
import Testing

@testable import Cleanup

@Suite("A look at open files", .serialized) struct OpenFileLookTests {
  /// Runs `body` while the file is open.
  private func whileOpen<Result>(_ path: String, _ body: (Int32) throws -> Result) throws -> Result {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw TestFailure("open \(path): \(errno)") }
    defer { close(descriptor) }
    return try body(descriptor)
  }

  @Test("what has a descriptor, a mapping, a working directory or a program open is open; what is closed is not")
  func look() throws {
    let tree = try TestTree()
    for name in ["open", "closed", "mapped"] { try tree.file(name, bytes: 4096) }
    try tree.directory("inside")
    let questions = try ["open", "closed", "mapped", "inside"].map { name in
      let status = try FileStatus(directory: AT_FDCWD, name: tree.absolute(name))
      return FileQuestion(device: status.identity.device, inode: status.identity.inode, path: Array(name.utf8))
    }
    let memory = try whileOpen(tree.absolute("mapped")) { mmap(nil, 4096, PROT_READ, MAP_PRIVATE, $0, 0) }
    defer { munmap(memory, 4096) }
    let directory = open(tree.absolute("inside"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    Command.settle()
    let uses = try whileOpen(tree.absolute("open")) { _ in try OpenFileLook.answer(questions, in: tree.path) }
    #expect(uses == [.open, .notOpen, .open, .open])
  }

  @Test("of a file that is open, but is not what the path leads to, nothing is told")
  func lookElsewhere() throws {
    let (tree, outside) = (try TestTree(), try TestTree())
    try outside.file("secret")
    try tree.file("a")
    try tree.symlink("link", to: outside.path)
    let status = try FileStatus(directory: AT_FDCWD, name: outside.absolute("secret"))
    for path in ["a", "link/secret", "../\(outside.path.split(separator: "/").last ?? "")/secret"] {
      let question = FileQuestion(device: status.identity.device, inode: status.identity.inode, path: Array(path.utf8))
      let uses = try whileOpen(outside.absolute("secret")) { _ in try OpenFileLook.answer([question], in: tree.path) }
      #expect(uses != [.open])
    }
    #expect(throws: CallFailure.self) { try OpenFileLook.answer([], in: tree.absolute("link")) }
    #expect(throws: CallFailure.self) { try OpenFileLook.answer([], in: tree.absolute("nowhere")) }
  }

  @Test("a path that is entitled and not there is entitled, also by a name with a symlink on it; what is beside it is not")
  func entitledAndMissing() throws {
    let tree = try TestTree()
    try tree.directory("real")
    try tree.symlink("link", to: tree.absolute("real"))
    try tree.symlink("nowhere", to: tree.absolute("gone"))
    let worker = EntitledPaths(
      Confinement(plugin: "/p", absentRead: [tree.absolute("real/read")], absentWrite: [tree.absolute("real/not/yet")]))
    #expect(worker.entitlement(to: tree.absolute("real/not/yet")) == [.read, .write])
    #expect(worker.entitlement(to: tree.absolute("link/not/yet/below")) == [.read, .write])
    #expect(worker.entitlement(to: tree.absolute("link/read")) == .read)
    #expect(worker.entitlement(to: tree.absolute("real/not/yeti")) == [])
    #expect(worker.entitlement(to: tree.absolute("nowhere/not/yet")) == [])
    let configured = EntitledPaths(read: [], write: [tree.absolute("link/later")])
    #expect(configured.entitlement(to: tree.absolute("real/later")) == [.read, .write])
  }
}
