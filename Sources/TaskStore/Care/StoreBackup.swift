import Glibc
import GRDB
import HostThreads
import TaskModel

/// Makes a copy of a store in one file, beside a host that may write to it.
public enum StoreBackup {
  /// A copy.
  public struct Result: Sendable, Hashable {
    /// The size of the file in bytes.
    public let bytes: Int64
    /// The number of requests.
    public let requests: Int
    /// The number of ended runs.
    public let runs: Int
  }

  private static let kind = PendingFile.Kind(name: "a backup", beginning: Array("SQLite format 3\0".utf8))

  /// Copies the store into a new file, opens and checks that, and only then lets it take the place of the old one. On any error, and if this
  /// process is killed, the old file is as it was.
  ///
  /// - Parameter path: The path of the copy: a new file, or an earlier copy. Outside of the store's folder.
  public static func make(of place: StorePlace, at path: String, _ step: StoreStep.Observer = { _ in }) throws(StoreCareError) -> Result {
    try check(path, place)
    let file = try PendingFile(for: path, replacing: kind)
    try StoreInspection.checkPages(of: place, "\(path) is as it was", step)
    let reader = try StoreReader(path: place.database)
    defer { reader.close() }
    try reader.checkNotNewer()
    try checkEarlier(path, of: reader)
    try StoreCopy.copy(reader, to: file, step)
    try file.settle()
    step(StoreStep(what: "checking the copy", percent: nil))
    let copy = try StoreReader(path: file.path)
    let counts: (damage: [StoreInspection.Finding], requests: Int, runs: Int)
    do {
      defer { copy.close() }
      counts = try copy.read { database in
        (
          try StoreInspection.damage(database), try Int.fetchOne(database, sql: "SELECT count(*) FROM requests") ?? 0,
          try Int.fetchOne(database, sql: "SELECT count(*) FROM runs") ?? 0
        )
      }
    }
    if let damage = counts.damage.first {
      throw StoreCareError(
        place.database, "the copy is damaged as the store is (\(damage.observed)), so \(path) is as it was",
        remedy: "see taskhost store check")
    }
    let bytes = StorePlace.size(file.path) ?? 0
    try file.publish(at: path)
    return Result(bytes: bytes, requests: counts.requests, runs: counts.runs)
  }

  /// Throws if the file is another database than an earlier backup of this store: of another program, of another host, or a store in use.
  private static func checkEarlier(_ path: String, of reader: StoreReader) throws(StoreCareError) {
    guard (StorePlace.size(path) ?? 0) > 0 else { return }
    func refusal(_ why: String) -> StoreCareError {
      StoreCareError(path, "it exists, and is not a backup of this store: \(why)", remedy: "move it away, or name another file")
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let isInUse = StorePlace.size(path + "-wal") != nil || StorePlace.size(folder + "store.mark") != nil
    guard !isInUse else { throw refusal("it is a store that a host keeps") }
    let earlier: StoreReader
    do throws(StoreCareError) { earlier = try StoreReader(path: path) } catch { throw refusal(error.observed) }
    defer { earlier.close() }
    guard try earlier.read(SQLiteRequestStore.recordedOrigin) == reader.read(SQLiteRequestStore.recordedOrigin) else {
      throw refusal("it is one of another store")
    }
  }

  /// Throws if the file would be lost together with the store.
  private static func check(_ path: String, _ place: StorePlace) throws(StoreCareError) {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard let real = RealPath.of(folder) else { throw StoreCareError(folder, "cannot be opened", .last) }
    let home = RealPath.of(place.database.lastIndex(of: "/").map { String(place.database[..<$0]) } ?? ".")
    if let home, real == home || real.hasPrefix(home + "/") {
      throw StoreCareError(path, "it is in the state directory \(home), and would be lost with it", remedy: "name a file elsewhere")
    }
  }
}
