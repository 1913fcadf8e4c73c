import GRDB
import StoreTestSupport
import TaskModel
import TaskStore
import Testing

@Suite("A host remembers plugin files") struct PluginMemoryTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open() throws -> SQLiteRequestStore { try SQLiteRequestStore(path: try directory.get().file("requests.sqlite")) }

  private static func file(_ number: Int) -> KnownPluginFile {
    KnownPluginFile(
      path: "/plugins/\(number)ü.so", device: .max, inode: UInt64(number), size: 1 << 40, modified: .min, changed: .max,
      digest: (0..<32).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) })
  }

  private static func verdict(_ number: Int) -> PluginVerdict {
    PluginVerdict(
      digest: (0..<32).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) },
      circumstances: (0..<32).map { UInt8(truncatingIfNeeded: (number >> 8) &+ $0) },
      registrations: Array("{\"identifier\": \"org.example.task\(number)\"}".utf8))
  }

  @Test("files and verdicts come back as they went in, also after the store was opened anew")
  func roundTrip() throws {
    let (files, verdicts) = ((0..<3).map(Self.file), (0..<3).map(Self.verdict))
    do {
      let store = try open()
      #expect(try store.knownFiles() == [])
      #expect(try store.verdicts() == [])
      try store.remember(files: files, verdicts: verdicts)
      store.close()
    }
    let store = try open()
    #expect(try Set(store.knownFiles()) == Set(files))
    #expect(try Set(store.verdicts()) == Set(verdicts))
  }

  @Test("what is remembered takes the place of everything that was")
  func replaced() throws {
    let store = try open()
    try store.remember(files: (0..<3).map(Self.file), verdicts: (0..<3).map(Self.verdict))
    try store.remember(files: [Self.file(7)], verdicts: [])
    #expect(try store.knownFiles() == [Self.file(7)])
    #expect(try store.verdicts() == [])
    try store.remember(files: [], verdicts: [Self.verdict(1)])
    #expect(try store.knownFiles() == [])
    #expect(try store.verdicts() == [Self.verdict(1)])
  }

  @Test("of two entries for one path, or for one content and circumstances, the last stays")
  func doubles() throws {
    let store = try open()
    var (file, verdict) = (Self.file(1), Self.verdict(1))
    file.size = 1
    verdict.registrations = [1]
    try store.remember(files: [Self.file(1), file], verdicts: [Self.verdict(1), verdict])
    #expect(try store.knownFiles() == [file])
    #expect(try store.verdicts() == [verdict])
  }

  @Test("what is remembered already is not written again")
  func unchanged() throws {
    let store = try open()
    let queue = try DatabaseQueue(path: try directory.get().file("requests.sqlite"))
    // Changes with every commit of another connection.
    func version() throws -> Int? { try queue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA data_version") } }
    let (files, verdicts) = ((0..<3).map(Self.file), (0..<3).map(Self.verdict))
    try store.remember(files: files, verdicts: verdicts)
    let before = try version()
    try store.remember(files: files.reversed(), verdicts: verdicts.reversed())
    #expect(try version() == before)
    try store.remember(files: files, verdicts: [])
    #expect(try version() != before)
  }

  @Test("it does not mix with what the scheduler writes, from whichever thread it comes")
  func concurrent() async throws {
    let store = try open()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 0..<50 { try? store.remember(files: [Self.file(round)], verdicts: [Self.verdict(round)]) }
      }
      group.addTask {
        for round in 0..<50 { try? store.commit { try $0.insert(.sample(Int64(round + 1), origin: store.origin)) } }
      }
    }
    #expect(try store.knownFiles() == [Self.file(49)])
    #expect(try store.verdicts() == [Self.verdict(49)])
    #expect(try store.counts() == [.pending: 50])
  }

  @Test("a thousand files and verdicts are read quickly")
  func quick() throws {
    let store = try open()
    let (files, verdicts) = ((0..<1000).map(Self.file), (0..<1000).map(Self.verdict))
    try store.remember(files: files, verdicts: verdicts)
    let clock = ContinuousClock()
    // The best of some: other tests share the machine.
    var best = Duration.seconds(60)
    for _ in 0..<5 {
      var found = (files: 0, verdicts: 0)
      best = min(best, try clock.measure { found = (try store.knownFiles().count, try store.verdicts().count) })
      #expect(found == (1000, 1000))
    }
    #expect(best < .milliseconds(20))
  }
}
