import Synchronization

/// Keeps secrets out of every text that leaves a run: log lines, messages, outputs, state and files beside the token file.
///
/// One redactor serves a run. It learns each secret when the run reads, makes or receives it; ``redact(_:)`` then replaces the secret
/// wherever it appears. A server's text goes through ``quote(_:)``, which does not need to know the secrets. Callable on any thread.
final class Redactor: Undisclosed, Sendable {
  /// The maximum number of characters of foreign text: enough for a sentence, too few for a page.
  static let limit = 200

  /// The minimum length of a secret in bytes. Shorter values protect nothing, and every text contains them.
  static let shortest = 4

  private let needles = Mutex(SecretNeedles())

  init(_ secrets: [Secret] = []) {
    for secret in secrets { learn(secret) }
  }

  func learn(_ secret: Secret) {
    let text = secret.reveal()
    guard text.utf8.count >= Self.shortest else { return }
    let forms = EchoedForms.needles(of: text)
    needles.withLock { $0.insert(forms) }
  }

  func learn(_ secrets: [Secret?]) {
    for case let secret? in secrets { learn(secret) }
  }

  /// The text with `[redacted]` in place of every secret, even if the secret is percent-encoded, escaped as JSON or HTML, in hexadecimal or
  /// base64, or divided by spaces, `:` or `-`.
  func redact(_ text: String) -> String {
    let needles = needles.withLock { $0 }
    guard !needles.isEmpty else { return text }
    let bytes = Array(text.utf8)
    var hidden: [Range<Int>] = []
    var view = DecodedView(bytes)
    for _ in 0...EchoedForms.deepest {
      hidden += view.places(of: needles.whole) + view.compacted().places(of: needles.compact)
      guard let decoded = view.decoded() else { break }
      view = decoded
    }
    guard !hidden.isEmpty else { return text }
    return Self.hide(hidden, in: bytes)
  }

  /// A server's text, made safe for a log: without invisible characters, secrets, and anything that does not read like words
  /// (``ForeignText/words(_:)``); at most ``limit`` characters and a mark if it was cut.
  ///
  /// A server that echoes a request may encode it in any way, so a search for encoded secrets is not enough.
  func quote(_ text: String) -> String {
    cut(ForeignText.words(redact(ForeignText.visible(text))))
  }

  /// A library's or a person's text, made safe for a log: redacted, without invisible characters, at most ``limit`` characters and a mark
  /// if it was cut.
  func clean(_ text: String) -> String {
    cut(redact(ForeignText.visible(text)))
  }

  private func cut(_ text: String) -> String {
    text.count > Self.limit ? text.prefix(Self.limit) + "…" : text
  }

  private static func hide(_ places: [Range<Int>], in bytes: [UInt8]) -> String {
    var shown: [UInt8] = []
    var position = 0
    for place in places.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if place.lowerBound >= position {
        shown += bytes[position..<place.lowerBound]
        shown += "[redacted]".utf8
      }
      position = max(position, place.upperBound)
    }
    return String(decoding: shown + bytes[position...], as: UTF8.self)
  }
}

/// The forms of all secrets, by first byte, so that a search costs little even with many secrets.
struct SecretNeedles: Sendable {
  /// The minimum length in bytes of a secret without its separators. A shorter one would match ordinary words by chance.
  private static let shortestCompact = 8

  /// Forms of secrets, as ``DecodedView/places(of:)`` requires them.
  private(set) var whole: [UInt8: Set<[UInt8]>] = [:]
  /// The same for a ``DecodedView/compacted()`` view.
  private(set) var compact: [UInt8: Set<[UInt8]>] = [:]

  var isEmpty: Bool { whole.isEmpty }

  mutating func insert(_ forms: Set<[UInt8]>) {
    for form in forms {
      if let first = form.first { whole[first, default: []].insert(form) }
      let packed = form.filter { !DecodedView.isSeparator($0) }
      if packed.count >= Self.shortestCompact, let first = packed.first { compact[first, default: []].insert(packed) }
    }
  }
}
