/// What all files of signing share, and what is signed.
enum SigningFormat {
  static let version = "1"
  static let algorithm = "ed25519"

  static func check(_ format: [UInt8], _ algorithm: [UInt8]) throws(SigningFlaw) {
    guard format.elementsEqual(version.utf8) else { throw SigningFlaw("has another format than \(version)") }
    guard algorithm.elementsEqual(Self.algorithm.utf8) else { throw SigningFlaw("has another algorithm than \(Self.algorithm)") }
  }

  /// The bytes that are signed for content with that digest.
  ///
  /// The first line keeps a signature from being one of something else that a key signs, and of a later format. The content alone is
  /// bound: for which identifiers a key may sign is the operator's to say, and a file's name is not part of what its author vouches for.
  static func message(digest: [UInt8]) -> [UInt8] {
    Array("taskhost plugin signature v1\n\(Hex.text(digest))\n".utf8)
  }
}
