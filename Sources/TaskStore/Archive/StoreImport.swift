import Glibc
import GRDB
import HostThreads
import StrictText
import TaskModel

/// Reads an archive into a store: all of it or nothing.
public enum StoreImport {
  /// What was imported.
  public struct Result: Sendable, Hashable {
    /// The number of added requests.
    public internal(set) var requests = 0
    /// The number of added runs.
    public internal(set) var runs = 0
    /// The number of other added records.
    public internal(set) var others = 0
    /// The number of records that the store had already.
    public internal(set) var skipped = 0
    /// What an examination of the new store found.
    public internal(set) var findings: [StoreInspection.Finding] = []
    /// The path of the store that the new one replaced; nil if there was none.
    public internal(set) var replaced: String?
  }

  /// Adds the records of an archive to the store, or makes a store of them. The caller holds the state directory's lock.
  ///
  /// The records go into a copy of the store, which is checked and then takes the store's place. On any error, and if this process is killed,
  /// the store is as it was.
  ///
  /// - Parameters:
  ///   - descriptor: The archive.
  ///   - name: The name of the archive for errors.
  ///   - sealing: The keys: what is added is sealed with the first of them.
  ///   - isTrial: Whether to stop before the store is replaced.
  ///   - program: The version of this program.
  public static func run(
    from descriptor: Int32, named name: String, into place: StorePlace, _ sealing: StoreSealing? = nil, isTrial: Bool, program: String?,
    _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) -> Result {
    if place.hasStore { try StoreInspection.checkPages(of: place, "it stays as it is", step) }
    let file = try PendingFile(for: place.database)
    if place.hasStore {
      let reader = try StoreReader(path: place.database)
      defer { reader.close() }
      try reader.checkNotNewer()
      try reader.checkKeys(sealing)
      try StoreCopy.copy(reader, to: file, step)
    }
    var result = try fill(file, from: descriptor, named: name, store: place.database, sealing, program: program, step)
    try file.settle()
    let (inspection, origin, highest) = try StoreRestore.examine(file.path, named: name, sealing, step)
    result.findings = inspection.findings
    guard !isTrial else { return result }
    result.replaced = try place.install(file, origin: origin, highest: highest, keepsOld: true)
    return result
  }

  private static func fill(
    _ file: PendingFile, from descriptor: Int32, named name: String, store: String, _ sealing: StoreSealing?, program: String?,
    _ step: StoreStep.Observer
  ) throws(StoreCareError) -> Result {
    var lines = ArchiveLines(descriptor, name: name)
    do {
      guard let head = try lines.next() else {
        throw StoreCareError(name, "it is empty", remedy: "name an export: taskhost store export FILE")
      }
      let start = try ArchiveHead(head)
      let queue = try DatabaseQueue(path: file.path)
      // The file counts only once it is complete, synced and checked.
      try queue.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536")
      }
      let isNew = try queue.read { try Schema.migrator.appliedIdentifiers($0).isEmpty }
      try Schema.migrator.migrate(queue)
      let result = try queue.writeWithoutTransaction { (database) throws -> Result in
        try start.adopt(in: database, store: store, program: program)
        try SealingRecord.begin(sealing, isNew: isNew, in: database)
        let archive = try ArchiveImport(database, start, ValueSeals(origin: start.origin, sealing))
        do {
          try archive.begin()
          while !archive.hasEnded, let line = try lines.next() {
            try archive.take(line, number: lines.count)
            if lines.count.isMultiple(of: 1024) { step(StoreStep(what: "importing line \(lines.count)", percent: nil)) }
          }
          guard archive.hasEnded else {
            throw StoreCareError(name, "it ends at line \(lines.count) without an end line, so a part is missing", remedy: "export again")
          }
          guard try lines.next() == nil else { throw ArchiveFlaw(line: lines.count, sentence: "there are more lines after the end line") }
          return try archive.finish()
        } catch {
          archive.abandon()
          throw error
        }
      }
      try queue.close()
      return result
    } catch let flaw as ArchiveFlaw {
      throw StoreCareError(name, "line \(flaw.line): \(flaw.sentence)")
    } catch { throw StoreCareError(file.path, error) }
  }
}

/// The first line of an archive.
struct ArchiveHead {
  let origin: UInt64
  let highest: Int64
  let lastPause: Int64?
  /// Leaves room for more pauses than operators make.
  private static let highestPause = Int64(Int32.max)

  init(_ text: [UInt8]) throws(ArchiveFlaw) {
    func wrong(_ sentence: String) -> ArchiveFlaw { ArchiveFlaw(line: 1, sentence: sentence) }
    let plain = try? JSONReader.read(text)
    guard let node = plain, node["format"]?.string == StoreArchive.format else {
      throw wrong("this is no export of a store: the first line must begin with {\"format\":\"\(StoreArchive.format)\"")
    }
    let program = node["taskhost"]?.string.map { ": install taskhost \($0)" } ?? ""
    guard let version = node["version"]?.integer else { throw wrong("version is missing") }
    guard version == StoreArchive.version else {
      throw wrong("it is in version \(version) of the format, and this taskhost reads version \(StoreArchive.version)\(program)")
    }
    let digits = node["origin"]?.string ?? ""
    guard let bytes = Hex.bytes(digits.utf8, count: 8) else { throw wrong("origin must have 16 hexadecimal digits") }
    origin = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    guard origin >> 62 == 0 else { throw wrong("origin must have 62 bits") }
    let line = try ArchiveObject(text, line: 1, origin: origin)
    for member in ["format", "taskhost", "origin"] { _ = try line.text(member) }
    _ = try line.integer("version")
    highest = try line.id("highest", RunID.self)?.sequence ?? 0
    lastPause = try line.integer("last_pause")
    if let lastPause, !(0...Self.highestPause).contains(lastPause) { throw wrong("last_pause must be 0 to \(Self.highestPause)") }
    try line.finish()
  }

  /// Gives the archive's identity to a store without records, and checks that of any other.
  func adopt(in database: Database, store: String, program: String?) throws {
    let own = try SQLiteRequestStore.recordedOrigin(database)
    if own != origin {
      let isUsed =
        try Bool.fetchOne(
          database,
          sql: """
            SELECT EXISTS (SELECT 1 FROM requests) OR EXISTS (SELECT 1 FROM runs) OR EXISTS (SELECT 1 FROM submissions)
              OR EXISTS (SELECT 1 FROM unique_windows) OR EXISTS (SELECT 1 FROM schedules)
              OR coalesce((SELECT highest FROM origin), 0) > 0
            """) ?? true
      guard !isUsed else {
        throw StoreCareError(
          store, "it has records of its own, and ids of two stores cannot be in one", remedy: "import into a new state directory (--state)")
      }
      try database.execute(sql: "DELETE FROM origin")
      try database.execute(sql: "INSERT INTO origin (bits) VALUES (?)", arguments: [Int64(bitPattern: origin)])
    }
    try database.execute(
      sql: "UPDATE origin SET highest = max(highest, ?), program = coalesce(?, program)", arguments: [highest, program])
  }
}
