import Synchronization

/// Keeps secrets out of every text that leaves a run: log lines, messages, outputs, state and files beside the token file.
///
/// One redactor serves a run. It learns each secret when the run reads, makes or receives it; ``redact(_:)`` then replaces the secret wherever it
/// appears, in whatever form a server echoed it. Callable on any thread.
final class Redactor: Sendable {
  /// Characters of foreign text that ``clean(_:)`` keeps: enough for a sentence, too little for a page.
  static let limit = 200

  private let needles = Mutex<Set<[UInt8]>>([])

  init(_ secrets: [Secret] = []) {
    for secret in secrets { learn(secret) }
  }

  /// Redacts this secret from now on.
  func learn(_ secret: Secret) {
    let forms = EchoedForms.needles(of: secret.reveal())
    needles.withLock { $0.formUnion(forms) }
  }

  /// Redacts these secrets from now on.
  func learn(_ secrets: [Secret?]) {
    for case let secret? in secrets { learn(secret) }
  }

  /// The text with `[redacted]` in place of every secret, also of one that is percent-encoded, escaped as JSON or HTML, in hexadecimal or in base64.
  func redact(_ text: String) -> String {
    let needles = needles.withLock { $0 }
    guard !needles.isEmpty else { return text }
    let bytes = Array(text.utf8)
    var hidden: [Range<Int>] = []
    var view = DecodedView(bytes)
    for _ in 0...EchoedForms.deepest {
      for needle in needles { hidden += view.places(of: needle) }
      guard let decoded = view.decoded() else { break }
      view = decoded
    }
    guard !hidden.isEmpty else { return text }
    return Self.hide(hidden, in: bytes)
  }

  /// Foreign text made fit for a log: redacted, control characters as spaces, at most ``limit`` characters and a mark that it was cut.
  func clean(_ text: String) -> String {
    let printable = String(String.UnicodeScalarView(redact(text).unicodeScalars.map { Self.isPrintable($0) ? $0 : " " }))
    return printable.count > Self.limit ? printable.prefix(Self.limit) + "…" : printable
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

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}

extension Redactor: CustomStringConvertible, CustomReflectable {
  var description: String { "Redactor" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
