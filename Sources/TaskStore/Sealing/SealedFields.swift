/// The columns of a part as one sequence of bytes: for each its kind, and unless it is NULL its length and its bytes.
enum SealedFields {
  /// What the form adds to a single value in bytes.
  static let overhead = 5

  private enum Kind {
    static let (null, text, blob, integer): (UInt8, UInt8, UInt8, UInt8) = (0, 1, 2, 3)
  }

  static func bytes(of values: [PreparedStatement.Value]) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ kind: UInt8, _ content: [UInt8]) {
      bytes.reserveCapacity(bytes.count + content.count + overhead)
      bytes.append(kind)
      let count = UInt32(truncatingIfNeeded: content.count)
      for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
      bytes.append(contentsOf: content)
    }
    for value in values {
      switch value {
      case .null: bytes.append(Kind.null)
      case .text(let text): add(Kind.text, Array(text.utf8))
      case .blob(let blob): add(Kind.blob, blob)
      case .integer(let number): add(Kind.integer, (0..<8).map { UInt8(truncatingIfNeeded: number >> Int64(8 * $0)) })
      }
    }
    return bytes
  }

  /// The columns again; nil for bytes that ``bytes(of:)`` does not make.
  static func values(of bytes: [UInt8], count: Int) -> [PreparedStatement.Value]? {
    var values: [PreparedStatement.Value] = []
    var rest = bytes[...]
    while let kind = rest.popFirst() {
      guard kind != Kind.null else {
        values.append(.null)
        continue
      }
      guard rest.count >= 4 else { return nil }
      let length = Int(rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      rest = rest.dropFirst(4)
      guard length <= rest.count else { return nil }
      switch kind {
      case Kind.text: values.append(.text(String(decoding: rest.prefix(length), as: UTF8.self)))
      case Kind.blob: values.append(.blob(Array(rest.prefix(length))))
      case Kind.integer:
        guard length == 8 else { return nil }
        values.append(.integer(rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int64($1) }))
      default: return nil
      }
      rest = rest.dropFirst(length)
    }
    return values.count == count ? values : nil
  }
}
