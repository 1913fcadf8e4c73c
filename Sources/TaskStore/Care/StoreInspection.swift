import GRDB
import TaskModel

/// What an examination of a store's files has found.
public struct StoreInspection: Sendable, Hashable {
  /// Something wrong in a store.
  public struct Finding: Sendable, Hashable {
    /// The kinds of findings. Their texts are part of the command line's contract.
    public enum Kind: String, Sendable, CaseIterable {
      /// SQLite finds the file malformed, or a page differs from its checksum.
      case damaged
      /// A row that no host writes.
      case unreadable
      /// Records that were acknowledged are missing.
      case lost
      /// Lists that a host derives from its records differ from these: lanes, tags, counts, rows of requests that are gone.
      case derived
      /// Records that contradict each other.
      case contradictory
      /// Values that are to be sealed and are not, or may be left in unused space of a file.
      case plaintext
    }

    /// The kind.
    public let kind: Kind
    /// What was seen, as a sentence.
    public let observed: String
    /// What to do.
    public let remedy: String
  }

  /// The number of the last migration that was applied.
  public var schema: Int
  /// The version of the taskhost that had the store open last; nil if that is unknown.
  public var program: String?
  /// The size of the database in bytes, with what is still in its log.
  public var bytes: Int64
  /// The number of requests; nil if it could not be read.
  public var requests: Int?
  /// The number of ended runs; nil if it could not be read.
  public var runs: Int?
  /// What is sealed; nil if the store is not to be sealed, and has nothing sealed.
  public var sealed: SealedContent?
  /// Why a part was not examined, as sentences.
  public var notes: [String] = []
  /// What is wrong, the most serious first.
  public var findings: [Finding] = []

  /// Whether the content cannot be relied on.
  public var isDamaged: Bool { findings.contains { $0.kind == .damaged || $0.kind == .unreadable } }
}

extension StoreInspection {
  /// Examines the store of a host that may run. Only reads.
  ///
  /// - Parameter sealing: The keys: all sealed values are opened.
  /// - Throws: Also if keys are missing.
  public static func of(
    _ place: StorePlace, _ sealing: StoreSealing? = nil, _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) -> StoreInspection {
    var (marks, notes, findings): ([StoreMark.Content], [String], [Finding]) = ([], [], [])
    // The marks are read first: a commit is in the store before it is in them.
    for mark in place.marks {
      do throws(StoreError) { if let content = try StoreMark.read(mark) { marks.append(content) } } catch {
        notes.append("\(error.observed): whether records are missing is unknown")
      }
    }
    do throws(StoreCareError) { try place.checkExists() } catch {
      guard marks.contains(where: { $0.sequence > 0 }) else { throw error }
      let remedy = "stop the host and restore a backup: taskhost store restore FILE"
      throw StoreCareError(place.database, "the store is gone or empty, and its mark records that it had records", remedy: remedy)
    }
    findings += differing(comparePages(of: place, marks, &notes, step)).map { [$0] } ?? []
    let reader: StoreReader
    do throws(StoreCareError) { reader = try StoreReader(path: place.database) } catch {
      guard !findings.isEmpty else { throw error }
      throw StoreCareError(error.path, "\(error.observed); \(findings[0].observed)", remedy: error.remedy)
    }
    defer { reader.close() }
    try reader.checkNotNewer()
    var inspection = try of(reader, sealing, step)
    if sealing?.target != nil { inspection.findings += SealedContent.earlierFiles(beside: place) }
    inspection.notes = notes + inspection.notes
    if inspection.schema == Schema.current { findings += try lost(reader, marks) }
    inspection.findings = findings + inspection.findings
    return inspection
  }

  /// The finding about pages that differ from their checksums.
  private static func differing(_ pages: [UInt32]?) -> Finding? {
    guard let pages, let first = pages.first else { return nil }
    let what = pages.count == 1 ? "page \(first) is" : "\(pages.count) pages are"
    return Finding(.damaged, "\(what) not as written" + (pages.count == 1 ? "" : ", the first is page \(first)"))
  }

  /// Throws if the store's pages differ from their checksums: a copy of them would look whole. Where a host has the store open, what it has
  /// found so far counts.
  ///
  /// - Parameter consequence: What becomes of the command, such as "the backup is as it was".
  static func checkPages(of place: StorePlace, _ consequence: String, _ step: StoreStep.Observer) throws(StoreCareError) {
    var notes: [String] = []
    let marks = place.marks.compactMap { try? StoreMark.read($0) }
    let pages = comparePages(of: place, marks, &notes, step) ?? PageSums.knownDamage(of: place.database)
    guard let damage = differing(pages) else { return }
    throw StoreCareError(
      place.database, "it is damaged (\(damage.observed)), so \(consequence)",
      remedy: "restore a backup: taskhost store restore FILE; to keep what can be read, taskhost store export FILE")
  }

  /// Compares the pages with their checksums, if that is possible.
  private static func comparePages(
    of place: StorePlace, _ marks: [StoreMark.Content], _ notes: inout [String], _ step: StoreStep.Observer
  ) -> [UInt32]? {
    guard !place.marks.isEmpty else { return nil }
    // A host that runs compares the pages itself, and writes them meanwhile.
    guard let mark = marks.first, !mark.isOpen, (StorePlace.size(place.database + "-wal") ?? 0) == 0 else {
      notes.append(
        "the pages were not compared with their checksums, because a host has the store open or was killed: each launch compares them")
      return nil
    }
    step(StoreStep(what: "comparing pages", percent: nil))
    let pages = PageSums.differences(of: place.database)
    // A host that was launched meanwhile may have written pages.
    guard let now = place.marks.first.flatMap({ try? StoreMark.read($0) }), !now.isOpen else { return nil }
    if pages == nil { notes.append("the pages have no checksums to compare with; the next launch makes them") }
    return pages
  }

  private static func lost(_ reader: StoreReader, _ marks: [StoreMark.Content]) throws(StoreCareError) -> [Finding] {
    let (origin, highest) = try reader.read { database in
      (try SQLiteRequestStore.recordedOrigin(database), try SQLiteRequestStore.highestSequence(database))
    }
    guard let origin else { return [] }
    return marks.filter { $0.sequence > 0 }.prefix(1).compactMap { mark in
      guard mark.origin == origin else {
        return Finding(.lost, "this is another store than the one that its mark records")
      }
      return highest < mark.sequence ? Finding(.lost, "the newest records that were acknowledged are missing") : nil
    }
  }

  /// Examines an open store.
  static func of(_ reader: StoreReader, _ sealing: StoreSealing?, _ step: StoreStep.Observer) throws(StoreCareError) -> StoreInspection {
    try reader.checkKeys(sealing)
    var inspection = StoreInspection(schema: reader.schema, bytes: 0)
    try reader.read { database in
      // The file may not have what is in the log.
      inspection.bytes = try Int64.fetchOne(database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
      step(StoreStep(what: "checking the database", percent: nil))
      inspection.findings = try damage(database)
      guard inspection.schema == Schema.current else {
        return inspection.notes.append(
          "an older taskhost wrote the store (schema \(inspection.schema)): its records are checked once a launch has migrated it")
      }
      inspection.program = try? String.fetchOne(database, sql: "SELECT program FROM origin")
      do {
        let origin = try SQLiteRequestStore.recordedOrigin(database) ?? 0
        let records = RecordInspection(database, origin: origin, sealing)
        inspection.findings += try records.run(step)
        (inspection.requests, inspection.runs) = (records.requests, records.runs)
        let (sealed, findings) = try SealedContent.examine(database, origin: origin, sealing, step)
        inspection.sealed = sealed
        inspection.findings += findings
      } catch {
        // A damaged page shows in any query.
        guard !inspection.findings.isEmpty else { throw error }
        inspection.notes.append("the records could not be checked: \(StoreError(error).observed)")
      }
    }
    let order = Finding.Kind.allCases
    inspection.findings.sort { (order.firstIndex(of: $0.kind) ?? 0) < (order.firstIndex(of: $1.kind) ?? 0) }
    return inspection
  }

  /// What SQLite itself finds wrong.
  static func damage(_ database: Database) throws -> [Finding] {
    do {
      var found = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }.map { Finding(.damaged, $0) }
      found += try SchemaComparison.differences(database).map { Finding(.damaged, $0) }
      let strangers = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check")
      if let first = strangers.first {
        let table: String = first["table"] ?? "?"
        found.append(Finding(.damaged, "\(strangers.count) rows refer to rows that are gone, the first in the table \(table)"))
      }
      return found
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB {
      return [Finding(.damaged, error.message ?? "the database is malformed")]
    }
  }
}

extension StoreInspection.Finding {
  init(_ kind: Kind, _ observed: String) {
    let remedy =
      switch kind {
      case .damaged, .unreadable, .lost: "stop the host and restore a backup: taskhost store restore FILE"
      case .derived: "stop the host and build them again: taskhost store vacuum"
      case .plaintext: "start the host, which seals what is left; once it has, stop it and write the file anew: taskhost store vacuum"
      case .contradictory: "cancel such a request and submit it again: taskhost tasks cancel ID"
      }
    self.init(kind: kind, observed: observed, remedy: remedy)
  }
}
