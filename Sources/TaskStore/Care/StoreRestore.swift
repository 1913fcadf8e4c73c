import Glibc
import GRDB
import HostThreads
import TaskModel

/// Puts a copy of a store in its place.
public enum StoreRestore {
  /// A store that was put in place.
  public struct Result: Sendable, Hashable {
    /// What was found in it.
    public let inspection: StoreInspection
    /// The path of the store that it replaced; nil if there was none.
    public let replaced: String?
  }

  /// Copies the file at `path` beside the store, checks the copy, and lets it take the store's place. The caller holds the state directory's
  /// lock. On any error, the store is as it was.
  ///
  /// - Parameter sealing: The keys that open the copy's values.
  /// - Throws: Also if a newer taskhost wrote the copy, the copy is damaged, or one of its keys is missing.
  public static func restore(
    _ path: String, to place: StorePlace, _ sealing: StoreSealing? = nil, _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) -> Result {
    let file = try PendingFile(for: place.database)
    if (StorePlace.size(path + "-wal") ?? 0) > 0 {
      // A copy of the files of a store that was open, or that store itself: SQLite reads the log with it.
      let reader = try StoreReader(path: path)
      defer { reader.close() }
      try StoreCopy.copy(reader, to: file, step)
    } else {
      try copy(path, to: file, step)
      // A host that closed its store leaves a database in write-ahead mode without a log.
      if (StorePlace.size(file.path) ?? 0) >= 100 { try file.standAlone() }
    }
    try file.settle()
    let (inspection, origin, highest) = try examine(file.path, named: path, sealing, step)
    let replaced = try place.install(file, origin: origin, highest: highest, keepsOld: true)
    return Result(inspection: inspection, replaced: replaced)
  }

  private static func copy(_ path: String, to file: PendingFile, _ step: StoreStep.Observer) throws(StoreCareError) {
    var status = stat()
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StoreCareError(path, "cannot be opened", .last) }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw StoreCareError(path, "is not a file", remedy: "name a backup that taskhost store backup made")
    }
    var (done, total) = (0, Int(status.st_size))
    while true {
      let part: [UInt8]
      do { part = try WholeTransfer.read(from: descriptor, atMost: 4 << 20) } catch { throw StoreCareError(path, "cannot be read", error) }
      guard !part.isEmpty else { return }
      try file.write(part)
      done += part.count
      total = max(total, done)
      step(StoreStep("copying", done: done, of: total))
    }
  }

  /// Checks a complete database before it becomes a store.
  ///
  /// - Parameter name: The path that errors name instead of the temporary one.
  static func examine(
    _ path: String, named name: String, _ sealing: StoreSealing?, _ step: StoreStep.Observer
  ) throws(StoreCareError) -> (inspection: StoreInspection, origin: UInt64, highest: Int64) {
    func renamed(_ error: StoreCareError) -> StoreCareError {
      StoreCareError(error.path == path ? name : error.path, error.observed, remedy: error.remedy)
    }
    do throws(StoreCareError) {
      let reader = try StoreReader(path: path)
      defer { reader.close() }
      try reader.checkNotNewer()
      let inspection = try StoreInspection.of(reader, sealing, step)
      if let damage = inspection.findings.first(where: { $0.kind == .damaged || $0.kind == .unreadable }) {
        throw StoreCareError(name, "it is damaged (\(damage.observed)), so the store is as it was", remedy: "use an earlier backup")
      }
      let (origin, highest) = try reader.read { database in
        (
          try SQLiteRequestStore.recordedOrigin(database),
          // The next launch of an older store counts from what it finds.
          reader.schema == Schema.current ? try SQLiteRequestStore.highestSequence(database) : 0
        )
      }
      guard let origin else { throw StoreCareError(name, "the store in it has no identity", remedy: "name another backup") }
      return (inspection, origin, highest)
    } catch { throw renamed(error) }
  }
}
