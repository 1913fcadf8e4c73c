/// A parameter of a statement: scalars travel as text, bytes and arrays in PostgreSQL's binary format.
enum PostgresValue: Sendable {
  case int(Int64?)
  case text(String?)
  case bytes([UInt8])
  case noBytes
  case ints([Int64])
  case texts([String?])
  case blobs([[UInt8]?])

  /// The type's number in PostgreSQL's catalogue.
  var type: UInt32 {
    switch self {
    case .int: 20
    case .text: 25
    case .bytes, .noBytes: 17
    case .ints: 1016
    case .texts: 1009
    case .blobs: 1001
    }
  }

  /// Whether ``content`` is in the binary format.
  var isBinary: Bool {
    switch self {
    case .int, .text: false
    case .bytes, .noBytes, .ints, .texts, .blobs: true
    }
  }

  /// The bytes to send; nil is NULL. Text ends with a zero byte, as libpq wants it.
  var content: [UInt8]? {
    switch self {
    case .int(let number): return number.map { Array("\($0)".utf8) + [0] }
    case .text(let text): return text.map { Array($0.utf8) + [0] }
    case .bytes(let bytes): return bytes
    case .noBytes: return nil
    case .ints(let numbers):
      return Self.array(of: 20, numbers, bytesOfEach: 8) { number, bytes in
        Self.append(number, to: &bytes)
        return true
      }
    case .texts(let texts):
      return Self.array(of: 25, texts, bytesOfEach: texts.first??.utf8.count ?? 0) { text, bytes in
        text.map { bytes += $0.utf8 } != nil
      }
    case .blobs(let blobs):
      return Self.array(of: 17, blobs, bytesOfEach: blobs.first??.count ?? 0) { blob, bytes in blob.map { bytes += $0 } != nil }
    }
  }

  /// An array of one dimension, as `array_send` writes it.
  ///
  /// - Parameters:
  ///   - bytesOfEach: About how many bytes each element takes.
  ///   - write: Appends an element; returns false for NULL.
  private static func array<Element>(
    of type: UInt32, _ elements: [Element], bytesOfEach: Int, _ write: (Element, inout [UInt8]) -> Bool
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + elements.count * (4 + bytesOfEach))
    let header: [Int32] = [1, 0, Int32(bitPattern: type), Int32(clamping: elements.count), 1]
    for number in header { append(number, to: &bytes) }
    for element in elements {
      let place = bytes.count
      append(Int32(-1), to: &bytes)
      if write(element, &bytes) {
        set(Int32(clamping: bytes.count - place - 4), in: &bytes, at: place)
      } else {
        set(1, in: &bytes, at: 4)
      }
    }
    return bytes
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
  }

  private static func set(_ number: Int32, in bytes: inout [UInt8], at place: Int) {
    withUnsafeBytes(of: number.bigEndian) { source in
      for index in 0..<4 { bytes[place + index] = source[index] }
    }
  }
}

/// A statement with its parameters, which it names $1, $2, …
struct PostgresStatement: Sendable {
  let text: String
  /// The parameters, which are asked for once, when the statement before this one is on its way: the server may work on that meanwhile.
  let values: @Sendable () -> [PostgresValue]
  /// Whether the server may keep it, see ``kept``.
  private(set) var mayBeKept = false

  init(_ text: String, _ values: PostgresValue...) { self.init(text) { values } }

  init(_ text: String, values: @escaping @Sendable () -> [PostgresValue]) { (self.text, self.values) = (text, values) }

  /// Whether it begins or ends a transaction of several pipelines. Nothing may come before it.
  var endsOrBegins: Bool { ["BEGIN", "COMMIT", "ROLLBACK"].contains { text.hasPrefix($0) } }

  /// The same statement, which the server may keep with a plan that fits any parameters. That is for calls of functions: a statement that
  /// selects by its parameters needs a plan for each of them.
  var kept: PostgresStatement {
    var kept = self
    kept.mayBeKept = true
    return kept
  }
}
