import Foundation
import GRDB
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskStore

@Suite("A glance at a store that no host has open") struct StoreGlanceTests {
  private let directory = Result { try TemporaryDirectory() }
  // A path whose characters mean something in a URI.
  private var path: String { get throws { try directory.get().file("a%20b?#.sqlite") } }
  private var mark: String { get throws { try directory.get().file("store.mark") } }

  private func look() throws -> StoreGlance { StoreGlance.look(at: try path, marks: [try mark]) }

  private func fill() throws -> SQLiteRequestStore {
    let store = try SQLiteRequestStore(path: try path, marks: [try mark])
    for number in 1...5 as ClosedRange<Int64> { try store.add(.sample(number, origin: store.origin)) }
    return store
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: URL(filePath: try mark).deletingLastPathComponent().path).sorted()
  }

  @Test("finds none, or a closed one to be whole, and leaves no file behind")
  func whole() throws {
    #expect(try look() == .absent)
    #expect(try names() == [])
    try fill().close()
    let before = try names()
    #expect(try look() == .whole(requests: 5))
    #expect(try names() == before)
  }

  @Test("does not touch one that was not closed")
  func open() throws {
    let store = try fill()
    #expect(try look() == .open)
    store.close()
  }

  @Test("finds what is no store, what is damaged, what a newer version wrote, and what is gone although its mark is there")
  func flaws() throws {
    try fill().close()
    let sound = try Data(contentsOf: URL(filePath: try path))

    try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: try path))
    guard case .flaw(.corrupt) = try look() else { Issue.record("\(try look())"); return }

    var damaged = sound
    damaged.replaceSubrange(4096..<sound.count, with: Data(repeating: 0xFF, count: sound.count - 4096))
    try damaged.write(to: URL(filePath: try path))
    guard case .flaw(.corrupt) = try look() else { Issue.record("\(try look())"); return }

    try sound.write(to: URL(filePath: try path))
    let queue = try DatabaseQueue(path: try path)
    try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('v99')") }
    try queue.close()
    for file in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: try path + file) }
    #expect(try look() == .flaw(.futureSchema(found: "v99")))

    try FileManager.default.removeItem(atPath: try path)
    guard case .flaw(.lost(let detail)) = try look() else { Issue.record("\(try look())"); return }
    #expect(detail.contains("missing or empty"))
  }
}
