import StrictText

/// The forms in which a server may echo a secret, as bytes to look for in a ``DecodedView``.
///
/// Encodings that can be undone (percent, JSON, HTML) are undone in the text. Hexadecimal and base64 cannot be told from other text, so the
/// secret is encoded instead.
enum EchoedForms {
  /// How many layers of encoding are undone: JSON in a form in JSON, and one to spare.
  static let deepest = 4

  /// Secrets shorter than this are looked for in base64 on their own only: their part of a longer base64 text would match by chance.
  private static let shortest = 6

  /// Everything to look for, each as ``DecodedView`` shows it; nothing shorter than ``Redactor/shortest``.
  static func needles(of secret: String) -> Set<[UInt8]> {
    guard !secret.isEmpty else { return [] }
    let bytes = Array(secret.utf8)
    var needles: Set<[UInt8]> = [bytes]
    // A secret that itself looks encoded is decoded together with the text around it.
    var view = DecodedView(bytes)
    for _ in 0..<deepest {
      guard let decoded = view.decoded() else { break }
      needles.insert(decoded.bytes)
      view = decoded
    }
    needles.insert(Array(Hex.text(bytes).utf8))
    needles.insert(Array(Hex.text(bytes).uppercased().utf8))
    needles.insert(base64(bytes))
    if bytes.count >= shortest { for lead in 0...2 { needles.insert(base64(bytes, behind: lead)) } }
    return Set(needles.filter { $0.count >= Redactor.shortest }.map { $0.map(DecodedView.canonical) })
  }

  private static func base64(_ bytes: [UInt8]) -> [UInt8] {
    Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }
  }

  /// The characters that the bytes alone decide when they stand in a longer text, `lead` bytes behind a multiple of three.
  private static func base64(_ bytes: [UInt8], behind lead: Int) -> [UInt8] {
    let text = base64([UInt8](repeating: 0, count: lead) + bytes)
    let first = (lead * 8 + 5) / 6
    let last = (lead + bytes.count) * 8 / 6
    return Array(text[first..<last])
  }
}
