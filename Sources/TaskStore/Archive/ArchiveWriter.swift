import StrictText
package import TaskModel

/// Writes the lines of an archive, see ``StoreArchive``.
package final class ArchiveWriter {
  /// Bytes that are passed on at once.
  private static let portion = 1 << 18

  private let sink: ([UInt8]) throws -> Void
  private var buffer: [UInt8] = []
  /// How many lines it has.
  package private(set) var lines = 0

  /// - Parameter sink: Gets the bytes in order, a few lines at a time.
  package init(_ sink: @escaping ([UInt8]) throws -> Void) { self.sink = sink }

  /// Writes the first line.
  ///
  /// - Parameters:
  ///   - origin: The 62 bits that all ids share.
  ///   - highest: The highest id that was given away; 0 for none.
  ///   - lastPause: The highest number of a pause; nil for none.
  ///   - isOpen: Whether somebody may change the records.
  ///   - program: The version of this program.
  package func head(origin: UInt64, highest: Int64, lastPause: Int64?, isOpen: Bool, program: String?) throws {
    try line { writer in
      writer.member("format", StoreArchive.format)
      writer.member("version", StoreArchive.version)
      writer.member("taskhost", program)
      writer.member("origin", Self.hex(origin))
      writer.id("highest", highest > 0 ? RunID(sequence: highest, origin: origin) : nil)
      writer.member("last_pause", lastPause)
      writer.flag("open", isOpen)
    }
  }

  package func add(_ request: ArchivedRequest) throws { try line { request.write(to: &$0) } }

  func add(_ run: RunRecord) throws { try line { ArchivedRun.write(run, to: &$0) } }

  package func add(_ pause: Pause) throws {
    try line(.pause) { writer in
      writer.member("number", pause.id.number)
      writer.member("filter", pause.order.filter)
      writer.member("by", pause.order.by)
      writer.member("user", pause.order.user.map(Int64.init))
      writer.member("why", pause.order.reason)
      writer.time("since_unix_ms", pause.since)
      writer.time("until_unix_ms", pause.order.until)
    }
  }

  /// - Parameters:
  ///   - plugin: Whose submission it was; nil for a client's.
  ///   - isForAll: Whether it was recorded before plugins had keys of their own. Such a key counts for everyone.
  package func add(
    _ key: ArchivedRequests.Key, of plugin: String? = nil, isForAll: Bool = false, disposition: Disposition = .created
  ) throws {
    try line(.submission) { writer in
      writer.member("plugin", plugin)
      writer.flag("for_all", isForAll)
      writer.member("idempotency_key", key.key)
      writer.member("fingerprint", Self.hex(key.fingerprint))
      writer.id("request", key.request)
      writer.word("disposition", disposition)
      writer.time("submitted_unix_ms", key.submitted)
    }
  }

  package func add(_ window: ArchivedRequests.Window) throws {
    try line(.uniqueWindow) { writer in
      writer.member("identifier", window.identifier.rawValue)
      writer.member("unique_key", window.key)
      writer.id("request", window.request)
      writer.time("until_unix_ms", window.until)
    }
  }

  /// Writes the last line.
  package func finish() throws {
    try line(.end) { $0.member("lines", lines) }
    try flush()
  }

  func line(_ kind: StoreArchive.Kind, _ write: (inout JSONWriter) throws -> Void) throws {
    try line { writer in
      writer.word("kind", kind)
      try write(&writer)
    }
  }

  private func line(_ write: (inout JSONWriter) throws -> Void) throws {
    buffer += try JSONWriter.object(write)
    buffer.append(UInt8(ascii: "\n"))
    lines += 1
    if buffer.count >= Self.portion { try flush() }
  }

  private func flush() throws {
    try sink(buffer)
    buffer = []
  }

  private static func hex(_ number: UInt64) -> String { Hex.text((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }) }
}
