/// The parts of an HTTP answer that this plugin uses.
struct ServerAnswer: Sendable {
  /// The maximum size of a body in bytes: 64 KiB.
  static let largestBody = 65_536

  let status: Int
  var retryAfter: String?
  var date: String?
  var location: String?
  /// nil if it is larger than ``largestBody``.
  let body: [UInt8]?
}

struct AnswerBody {
  /// The maximum number of looks at an unfinished body, so that a server that sends byte by byte costs little.
  private static let mostLooks = 64

  private let codings: [String]
  private var received: [UInt8] = []
  private var looks = 0

  init(codings: [String]) {
    self.codings = codings
  }

  /// Whether more than ``ServerAnswer/largestBody`` has arrived.
  var isTooLarge: Bool { received.count > ServerAnswer.largestBody }

  /// Everything that has arrived, decompressed; nil if it is larger than ``ServerAnswer/largestBody``.
  var plain: [UInt8]? {
    isTooLarge ? nil : ContentCoding.plain(received, codings: codings, limit: ServerAnswer.largestBody)
  }

  /// Takes the next bytes.
  ///
  /// - Returns: The text, if it is a whole JSON object. Then nothing that follows on the connection matters.
  mutating func take(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    received += bytes
    guard looks < Self.mostLooks, !codings.isEmpty || Self.endsObject(received) else { return nil }
    looks += 1
    guard let plain, Self.endsObject(plain), TokenAnswer.object(plain) != nil else { return nil }
    return plain
  }

  private static func endsObject(_ text: [UInt8]) -> Bool {
    let last = text.last { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    return last == UInt8(ascii: "}")
  }
}
