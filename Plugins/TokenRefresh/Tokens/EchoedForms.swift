import StrictText

/// The forms in which a server may echo a secret, as bytes to search for in a ``DecodedView``.
///
/// Percent, JSON and HTML encoding are removed from the text. Hexadecimal and base64 cannot be distinguished from other text, so the secret
/// is encoded instead.
enum EchoedForms {
  /// The maximum number of encoding layers that are removed: JSON in a form in JSON, and one in reserve.
  static let deepest = 4

  /// Base64 of a shorter secret is searched for only on its own, because within a longer base64 text it would match by chance.
  private static let shortest = 6

  /// All forms to search for, as ``DecodedView`` shows them; none is shorter than ``Redactor/shortest``.
  static func needles(of secret: String) -> Set<[UInt8]> {
    guard !secret.isEmpty else { return [] }
    let bytes = Array(secret.utf8)
    var needles: Set<[UInt8]> = [bytes]
    // If a secret itself looks encoded, it is decoded together with the surrounding text.
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

  /// The base64 characters that depend only on `bytes`, if these begin `lead` bytes after a multiple of three in a longer text.
  private static func base64(_ bytes: [UInt8], behind lead: Int) -> [UInt8] {
    let text = base64([UInt8](repeating: 0, count: lead) + bytes)
    let first = (lead * 8 + 5) / 6
    let last = (lead + bytes.count) * 8 / 6
    return Array(text[first..<last])
  }
}
