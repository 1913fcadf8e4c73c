import StrictText

/// The text of key and signature files: a title, then lines `name=value` with fixed names in fixed order. Each line ends with a line feed.
///
/// Each file has exactly one valid form, so it cannot hide data, and every changed byte is detected.
package enum SigningText {
  /// The maximum size of a file in bytes.
  package static let limit = 1024

  static func write(_ title: String, _ fields: KeyValuePairs<String, String>) -> String {
    ([title] + fields.map { "\($0)=\($1)" }).map { $0 + "\n" }.joined()
  }

  static func values(of names: [String], title: String, in bytes: [UInt8]) throws(SigningFlaw) -> [[UInt8]] {
    guard bytes.count <= limit else { throw SigningFlaw("is \(bytes.count) bytes, more than \(limit)") }
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.first?.elementsEqual(title.utf8) == true else { throw SigningFlaw("does not begin with the line \"\(title)\"") }
    guard lines.last?.isEmpty == true, lines.count == names.count + 2 else {
      throw SigningFlaw("does not have exactly \(names.count + 1) lines, each with a line feed at its end")
    }
    lines.removeFirst()
    var values: [[UInt8]] = []
    for (name, line) in zip(names, lines) {
      let start = Array(name.utf8) + [UInt8(ascii: "=")]
      guard line.starts(with: start) else { throw SigningFlaw("does not have the line \"\(name)=…\" where it belongs") }
      values.append(Array(line.dropFirst(start.count)))
    }
    return values
  }
}

enum SigningFormat {
  static let version = "1"
  static let algorithm = "ed25519"

  static func check(_ format: [UInt8], _ algorithm: [UInt8]) throws(SigningFlaw) {
    guard format.elementsEqual(version.utf8) else { throw SigningFlaw("has a format other than \(version)") }
    guard algorithm.elementsEqual(Self.algorithm.utf8) else { throw SigningFlaw("has an algorithm other than \(Self.algorithm)") }
  }

  /// The signed bytes for content with `digest`.
  ///
  /// The first line prevents confusion with signatures of other data or later formats. A signature covers only the content: the operator
  /// decides which identifiers a key may sign for, and the author does not vouch for a file's name.
  static func message(digest: [UInt8]) -> [UInt8] {
    Array("taskhost plugin signature v1\n\(Hex.text(digest))\n".utf8)
  }
}
