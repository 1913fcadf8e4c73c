import Synchronization

/// Keeps secrets out of every text that leaves a run: log lines, messages, outputs, state and files beside the token file.
///
/// One redactor serves a run. It learns each secret when the run reads, makes or receives it; ``redact(_:)`` then replaces the secret wherever it
/// appears. What a server wrote goes through ``quote(_:)``, which does not have to know what to look for. Callable on any thread.
final class Redactor: Undisclosed, Sendable {
  /// Characters of foreign text that are kept: enough for a sentence, too little for a page.
  static let limit = 200

  /// Shorter values are not searched for: they protect nothing, and every text contains them.
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

  /// The text with `[redacted]` in place of every secret, also of one that is percent-encoded, escaped as JSON or HTML, in hexadecimal or in
  /// base64, or that is taken apart by spaces, `:` or `-`.
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

  /// What a server wrote, made fit for a log: without what cannot be seen, without secrets, without anything that does not read like words
  /// (``ForeignText/words(_:)``), at most ``limit`` characters and a mark that it was cut.
  ///
  /// A server that echoes a request may encode it in any way, so a search for encoded secrets is not enough.
  func quote(_ text: String) -> String {
    cut(ForeignText.words(redact(ForeignText.visible(text))))
  }

  /// Text of a library or of a person made fit for a log: redacted, without what cannot be seen, at most ``limit`` characters and a mark that it
  /// was cut.
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

/// Everything a redactor looks for, by the first byte, so that a search costs little however many secrets there are.
struct SecretNeedles: Sendable {
  /// With fewer bytes, what is left of a secret without its separators would match ordinary words by chance.
  private static let shortestCompact = 8

  /// Forms of secrets, as ``DecodedView/places(of:)`` wants them.
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
