import StrictText
package import TaskModel

/// Requests and runs as JSON texts, for a database that several hosts share. They have the members of an archive's lines (``StoreArchive``),
/// without those that the database keeps in columns.
package enum RecordText {
  /// Why a text cannot be read: another host has written it.
  package struct Flaw: Error, Sendable, CustomStringConvertible {
    /// Which member, and what is wrong with it.
    package let description: String
  }

  /// The text of a request, without its id and its payload.
  package static func text(of record: RequestRecord) -> String {
    let archived = ArchivedRequest(record: record)
    return String(decoding: JSONWriter.object { archived.writeFields(to: &$0) }, as: UTF8.self)
  }

  /// Reads a request.
  package static func request(_ text: [UInt8], id: RequestID, payload: [UInt8]) throws(Flaw) -> RequestRecord {
    try read(text, origin: id.origin) { (line) throws(ArchiveFlaw) in
      var record = try ArchivedRequest(line, id: id).record
      record.request.payload = payload
      return record
    }
  }

  /// Reads requests, one after the other. Those that were submitted together often have the same text, which is read once.
  package struct RequestReader {
    private var last: (text: [UInt8], record: RequestRecord)?

    package init() {}

    /// Reads a request.
    package mutating func request(_ text: [UInt8], id: RequestID, payload: [UInt8]) throws(Flaw) -> RequestRecord {
      guard let last, last.record.id.origin == id.origin, last.text == text else {
        let record = try RecordText.request(text, id: id, payload: payload)
        last = (text, record)
        return record
      }
      var record = last.record
      record.id = id
      if record.request.payload != payload { record.request.payload = payload }
      return record
    }
  }

  /// Refuses a request of which a part is greater than a host may have written.
  package static func check(payloadBytes: Int, eventPayloadBytes: Int, checkpointBytes: Int) throws(Flaw) {
    for (part, bytes, limit) in [
      ("payload", payloadBytes, Limits.payloadBytes), ("event_payload", eventPayloadBytes, Limits.payloadBytes),
      ("checkpoint", checkpointBytes, Limits.stateValueBytes),
    ] where bytes > limit { throw Flaw(description: "\(part): has \(bytes) bytes, more than \(limit)") }
  }

  /// The text of a run.
  package static func text(of run: RunRecord) -> String {
    String(decoding: JSONWriter.object { ArchivedRun.write(run, to: &$0) }, as: UTF8.self)
  }

  /// Reads a run that has ended, or one that goes on.
  package static func run(_ text: [UInt8], isLive: Bool = false) throws(Flaw) -> RunRecord {
    try read(text, origin: nil) { (line) throws(ArchiveFlaw) in
      _ = try line.text("kind")
      return try ArchivedRun.read(line, isLive: isLive)
    }
  }

  /// What requests need besides their time; the same needs have the same text.
  package static func text(of gates: RunConstraints) throws -> String { try StoredGates.text(of: gates) }

  /// Reads what requests need besides their time.
  package static func gates(_ text: String) throws -> RunConstraints { try StoredGates.gates(text) }

  /// The strings of an array in JSON; none if it is something else.
  package static func texts(_ json: [UInt8]?) -> [String] {
    guard let json, let node = try? JSONReader.read(json, limits: JSONLimits(values: 20_000)) else { return [] }
    return node.array?.compactMap(\.string) ?? []
  }

  private static func read<Value>(
    _ text: [UInt8], origin: UInt64?, _ read: (ArchiveObject) throws(ArchiveFlaw) -> Value
  ) throws(Flaw) -> Value {
    do throws(ArchiveFlaw) {
      let line = try ArchiveObject(text, line: 1, origin: origin)
      let value = try read(line)
      try line.finish()
      return value
    } catch { throw Flaw(description: error.sentence) }
  }
}
