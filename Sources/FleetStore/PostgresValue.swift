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
    case .ints(let numbers): return Self.array(of: 20, numbers.map { Self.big(UInt64(bitPattern: $0), bytes: 8) })
    case .texts(let texts): return Self.array(of: 25, texts.map { $0.map { Array($0.utf8) } })
    case .blobs(let blobs): return Self.array(of: 17, blobs)
    }
  }

  /// An array of one dimension, as `array_send` writes it.
  private static func array(of type: UInt32, _ elements: [[UInt8]?]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(elements.reduce(20) { $0 + 4 + ($1?.count ?? 0) })
    bytes += big(1, bytes: 4) + big(elements.contains { $0 == nil } ? 1 : 0, bytes: 4) + big(UInt64(type), bytes: 4)
    bytes += big(UInt64(elements.count), bytes: 4) + big(1, bytes: 4)
    for element in elements {
      guard let element else {
        bytes += [0xFF, 0xFF, 0xFF, 0xFF]
        continue
      }
      bytes += big(UInt64(element.count), bytes: 4)
      bytes += element
    }
    return bytes
  }

  private static func big(_ number: UInt64, bytes count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}

/// A statement with its parameters, which it names $1, $2, …
struct PostgresStatement: Sendable {
  let text: String
  let values: [PostgresValue]

  init(_ text: String, _ values: PostgresValue...) { self.init(text, all: values) }

  init(_ text: String, all values: [PostgresValue]) { (self.text, self.values) = (text, values) }
}
