import GRDB
import StrictText
import TaskModel

/// The first line of an archive.
struct ArchiveHead {
  let origin: UInt64
  let highest: Int64
  let lastPause: Int64?
  /// Whether a host had the store open, or was killed.
  let isOpen: Bool
  /// Leaves room for more pauses than operators make.
  static let highestPause = Int64(Int32.max)

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
    isOpen = try line.flag("open")
    try line.finish()
  }

  init(of lines: inout ArchiveLines, named name: String) throws {
    guard let text = try lines.next() else {
      throw StoreCareError(name, "it is empty", remedy: "name an export: taskhost store export FILE")
    }
    try self.init(text)
  }

  /// Reads all lines after this one, up to the end line.
  ///
  /// - Parameters:
  ///   - what: What is done, for people who wait.
  ///   - take: Gets each line with its kind; it takes the members that it wants.
  func readRest(
    of lines: inout ArchiveLines, named name: String, as what: String, _ step: StoreStep.Observer,
    _ take: (StoreArchive.Kind, ArchiveObject) throws -> Void
  ) throws {
    while let text = try lines.next() {
      let line = try ArchiveObject(text, line: lines.count, origin: origin)
      let kind = try line.requiredWord("kind", StoreArchive.Kind.self)
      guard kind != .end else {
        guard try line.requiredInteger("lines") == Int64(lines.count) - 1 else {
          throw line.flaw("lines", "says otherwise than the \(lines.count - 1) lines before it, so a part is missing")
        }
        try line.finish()
        guard try lines.next() == nil else { throw ArchiveFlaw(line: lines.count, sentence: "there are more lines after the end line") }
        return
      }
      try take(kind, line)
      if lines.count.isMultiple(of: 1024) { step(StoreStep(what: "\(what) line \(lines.count)", percent: nil)) }
    }
    throw StoreCareError(name, "it ends at line \(lines.count) without an end line, so a part is missing", remedy: "export again")
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
              OR EXISTS (SELECT 1 FROM pauses) OR EXISTS (SELECT 1 FROM state) OR EXISTS (SELECT 1 FROM standing)
              OR coalesce((SELECT highest FROM origin), 0) > 0
            """) ?? true
      guard !isUsed else {
        throw StoreCareError(
          store, "it has records of its own, and ids of two stores cannot be in one", remedy: "import into a new state directory (--state)")
      }
      for table in ["origin", "objectives", "clock"] { try database.execute(sql: "DELETE FROM \(table)") }
      try database.execute(sql: "INSERT INTO origin (bits) VALUES (?)", arguments: [Int64(bitPattern: origin)])
    }
    try database.execute(
      sql: "UPDATE origin SET highest = max(highest, ?), program = coalesce(?, program)", arguments: [highest, program])
  }
}
