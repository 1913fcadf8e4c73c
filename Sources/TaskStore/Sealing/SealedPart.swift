/// A part of the store whose content is secret: some columns of a table, which are sealed together.
///
/// The plain columns hold the content, or else `sealed` does: then they are NULL, or empty where the table does not allow NULL. So no content
/// can be taken for a sealed one.
struct SealedPart: Sendable {
  /// A column with content.
  struct Column: Sendable {
    enum Kind: Sendable { case text, bytes, integer }

    let name: String
    let kind: Kind
    /// Whether the table wants a value, which is an empty one beside a sealed part.
    let isRequired: Bool
  }

  /// The number of the part. A number never gets another meaning: it is part of each seal.
  let number: UInt8
  let table: String
  /// What the part is called, before the name of its row.
  let name: String
  /// The columns that name the row.
  let identity: [String]
  let columns: [Column]
  /// The column with the sealed content.
  let sealed: String

  private init(
    _ number: UInt8, _ table: String, _ name: String, by identity: [String], _ columns: [Column], sealed: String = "sealed"
  ) {
    (self.number, self.table, self.name, self.identity, self.columns, self.sealed) = (number, table, name, identity, columns, sealed)
  }

  private static func text(_ name: String, isRequired: Bool = false) -> Column { Column(name: name, kind: .text, isRequired: isRequired) }
  private static func bytes(_ name: String, isRequired: Bool = true) -> Column { Column(name: name, kind: .bytes, isRequired: isRequired) }

  static let payload = SealedPart(1, "payloads", "the payload of request", by: ["request"], [bytes("bytes")])
  static let eventPayload = SealedPart(2, "event_payloads", "the event's payload of request", by: ["request"], [bytes("bytes")])
  static let checkpoint = SealedPart(3, "checkpoints", "the checkpoint of request", by: ["request"], [bytes("bytes")])
  static let dependency = SealedPart(
    4, "edges", "the output that was passed to request", by: ["request", "predecessor"], [bytes("output", isRequired: false)])
  static let message = SealedPart(5, "requests", "the last message of request", by: ["id"], [text("last_message")])
  static let pauseOfRequest = SealedPart(6, "requests", "the pause of request", by: ["id"], [text("paused")], sealed: "sealed_pause")
  static let words = SealedPart(7, "runs", "the message of run", by: ["id"], [text("message"), text("details")])
  static let report = SealedPart(
    8, "runs", "the output and log of run", by: ["id"], [bytes("output", isRequired: false), text("log"), text("trouble")],
    sealed: "sealed_report")
  static let state = SealedPart(9, "state", "a value of a plugin's state", by: ["identifier", "key"], [bytes("value")])
  static let trouble = SealedPart(10, "standing", "the last trouble of a plugin", by: ["identifier"], [text("last_trouble")])
  static let pause = SealedPart(11, "pauses", "pause", by: ["id"], [text("filter", isRequired: true), text("reason")])
  /// It is a digest of the payload too, with which a guess could be confirmed.
  static let fingerprint = SealedPart(
    12, "submissions", "the fingerprint of a submission", by: ["submitter", "key"],
    [Column(name: "fingerprint", kind: .integer, isRequired: true)])

  /// All parts.
  static let all = [
    payload, eventPayload, checkpoint, dependency, message, pauseOfRequest, words, report, state, trouble, pause, fingerprint,
  ]

  /// What sealing adds to the length of a single value in bytes.
  static var overheadOfOne: Int { SealedFields.overhead + ValueSeals.overhead }

  /// The condition that a row has plain content, in SQL.
  var isPlain: String {
    let has = columns.contains { $0.isRequired } ? "1" : columns.map { "\($0.name) IS NOT NULL" }.joined(separator: " OR ")
    return "\(sealed) IS NULL AND (\(has))"
  }
}

/// Where a sealed value is: it opens nowhere else.
struct SealedPlace {
  let part: SealedPart
  /// The values of the part's ``SealedPart/identity``.
  let row: [PreparedStatement.Value]

  init(_ part: SealedPart, _ row: PreparedStatement.Value...) { self.init(part, row) }

  init(_ part: SealedPart, row: [PreparedStatement.Value]) { self.init(part, row) }

  private init(_ part: SealedPart, _ row: [PreparedStatement.Value]) { (self.part, self.row) = (part, row) }

  /// The bytes that the seal covers besides the value, different for each place of each store.
  func bytes(origin: UInt64) -> [UInt8] {
    var bytes = Array("taskhost store".utf8)
    bytes.append(part.number)
    func add(_ number: UInt64) { bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) } }
    add(origin)
    for value in row {
      switch value {
      case .null: bytes.append(0)
      case .integer(let number):
        bytes.append(1)
        add(UInt64(bitPattern: number))
      case .text(let text):
        bytes.append(2)
        add(UInt64(text.utf8.count))
        bytes += text.utf8
      case .blob(let blob):
        bytes.append(3)
        add(UInt64(blob.count))
        bytes += blob
      }
    }
    return bytes
  }
}
