import Foundation
import GRDB
import Glibc
import HostThreads

/// Where a host keeps its store: the database with its log and checksums, and the marks that record its content elsewhere.
public struct StorePlace: Sendable, Hashable {
  /// The path of the database.
  public let database: String
  /// The paths of the marks, the state directory's own first.
  public let marks: [String]

  /// Names the files of a store, which need not exist.
  public init(database: String, marks: [String]) {
    self.database = database
    self.marks = marks
  }

  /// Whether a database with content exists.
  var hasStore: Bool { (Self.size(database) ?? 0) > 0 }

  /// Throws unless a database with content exists.
  public func checkExists() throws(StoreCareError) {
    var status = stat()
    let isThere = stat(database, &status) == 0
    if !isThere, errno != ENOENT, errno != ENOTDIR { throw StoreCareError(database, "cannot be examined", .last) }
    guard !isThere || status.st_mode & S_IFMT != S_IFREG || status.st_size == 0 else { return }
    let what = !isThere ? "there is no store here" : status.st_size == 0 ? "the store is empty" : "it is not a file"
    throw StoreCareError(database, what, remedy: "name the host's state directory (--state) or its configuration (--config)")
  }

  /// The size of a file in bytes; nil if it does not exist.
  static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  // MARK: Replacing

  /// Puts a complete and closed database into this place, with marks and checksums that belong to it. No host may have the store open.
  ///
  /// A process that is killed in the middle leaves the old store, the new one, or a store that a launch refuses because its marks do not
  /// belong to it: then the command can be repeated.
  ///
  /// - Parameter keepsOld: Whether the replaced store stays beside the new one.
  /// - Returns: The path of the replaced store; nil if there was none or it was not kept.
  func install(_ file: PendingFile, origin: UInt64, highest: Int64, keepsOld: Bool) throws(StoreCareError) -> String? {
    try file.useLog()
    try file.settle()
    settleLog()
    let kept = keepsOld && hasStore ? unusedName() : nil
    // Checksums of the old content would make the new one look damaged.
    PageSums.forgetAll(of: database)
    if let kept {
      // A link leaves the database in its place until the new one replaces it. Not every file system has links.
      if link(database, kept) != 0 { try move(database, to: kept) }
      if (Self.size(database + "-wal") ?? 0) > 0 { try move(database + "-wal", to: kept + "-wal") }
    }
    // SQLite would apply the log of the old database to the new one.
    for suffix in ["-wal", "-shm", "-journal"] where unlink(database + suffix) != 0 && errno != ENOENT {
      throw StoreCareError(database + suffix, "cannot be removed", .last)
    }
    try file.publish(at: database)
    do {
      for mark in marks { _ = try StoreMark(path: mark, StoreMark.Content(origin: origin, sequence: highest, isOpen: false)) }
    } catch { throw StoreCareError(database, error) }
    // Without checksums, the next launch computes them.
    PageSums.compute(for: database, origin: origin)
    return kept
  }

  /// Moves what a killed host has left in the log into the database, so that one renaming replaces both. A damaged store stays as it is.
  private func settleLog() {
    guard hasStore, (Self.size(database + "-wal") ?? 0) > 0 else { return }
    PageSums.forget(pagesInLogOf: database)
    guard let queue = try? DatabaseQueue(path: database) else { return }
    try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    try? queue.close()
  }

  private func unusedName() -> String {
    let time = Date().ISO8601Format().filter { $0 != ":" }
    let name = "\(database).replaced-\(time)"
    guard Self.size(name) != nil else { return name }
    return (2...1000).lazy.map { "\(name)-\($0)" }.first { Self.size($0) == nil } ?? name
  }

  private func move(_ old: String, to new: String) throws(StoreCareError) {
    guard rename(old, new) == 0 else { throw StoreCareError(old, "cannot be moved to \(new)", .last) }
  }
}
