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
      let start = try ArchiveHead(of: &lines, named: name)
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
          try start.readRest(of: &lines, named: name, as: "importing", step) { try archive.take($1, $0) }
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
