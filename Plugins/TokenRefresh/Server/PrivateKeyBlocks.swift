/// The private keys in a text of PEM blocks (RFC 7468).
///
/// A file may hold more than the key: `openssl ecparam -genkey` writes the parameters of the curve before it, others put certificates beside it.
enum PrivateKeyBlocks {
  /// Each block whose label ends in `PRIVATE KEY`, from its first line to its last, in the order of the text. Blocks of anything else, and what
  /// stands between blocks, are skipped.
  static func find(in text: String) -> [String] {
    var found: [String] = []
    var block: [Substring]?
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("-----BEGIN ") { block = line.hasSuffix("PRIVATE KEY-----") ? [] : nil }
      block?.append(line)
      if line.hasPrefix("-----END "), let lines = block {
        found.append(lines.joined(separator: "\n") + "\n")
        block = nil
      }
    }
    return found
  }
}
