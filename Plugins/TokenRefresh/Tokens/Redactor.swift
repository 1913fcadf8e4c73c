/// Makes text that came from elsewhere (a server's error description, a library's error) fit for a log.
///
/// Servers have been seen to echo the request, so each secret of the exchange is replaced wherever it appears, plain or form-encoded;
/// control characters become spaces, and the text is cut.
struct Redactor: Sendable {
  /// Characters of foreign text that are kept; enough for a sentence, too little for a page.
  static let limit = 200

  private let needles: [String]

  init(_ secrets: [Secret]) {
    let texts = secrets.map { $0.reveal() }.filter { !$0.isEmpty }
    // The longest first, so that a secret which contains another is replaced as a whole.
    needles = Set(texts + texts.map(FormEncoding.encode)).sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
  }

  /// The text without secrets and control characters, at most ``limit`` characters and a mark that it was cut.
  func clean(_ text: String) -> String {
    var clean = text
    for needle in needles { clean = clean.replacing(needle, with: "[redacted]") }
    clean = String(String.UnicodeScalarView(clean.unicodeScalars.map { Self.isPrintable($0) ? $0 : " " }))
    return clean.count > Self.limit ? clean.prefix(Self.limit) + "…" : clean
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
