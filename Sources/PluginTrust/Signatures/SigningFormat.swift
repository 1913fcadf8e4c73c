import StrictText

/// What all files of signing share, and what is signed.
enum SigningFormat {
  static let version = "1"
  static let algorithm = "ed25519"

  static func check(_ format: [UInt8], _ algorithm: [UInt8]) throws(SigningFlaw) {
    guard format.elementsEqual(version.utf8) else { throw SigningFlaw("has another format than \(version)") }
    guard algorithm.elementsEqual(Self.algorithm.utf8) else { throw SigningFlaw("has another algorithm than \(Self.algorithm)") }
  }

  /// The signed bytes for content with `digest`.
  ///
  /// The first line prevents confusion with signatures of other data or of later formats. A signature covers only the content: the operator
  /// decides for which identifiers a key may sign, and the author does not vouch for a file's name.
  static func message(digest: [UInt8]) -> [UInt8] {
    Array("taskhost plugin signature v1\n\(Hex.text(digest))\n".utf8)
  }
}
