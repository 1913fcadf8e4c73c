import Glibc

/// Why a sealed value does not open.
public enum SealFlaw: Error, Sendable, Hashable, CustomStringConvertible {
  /// Its header is none that this version writes.
  case unknownForm
  /// None of the keys is that one.
  case missingKey(KeyID)
  /// Bits have flipped, or it is another value than this one.
  case notAuthentic

  /// The flaw, as the end of a sentence about the value.
  public var description: String {
    switch self {
    case .unknownForm: "it is not in a form that this taskhost seals"
    case .missingKey(let id): "it is sealed with the key \(id), which this host does not have"
    case .notAuthentic: "its seal does not match: bits have flipped, or it belongs to another place"
    }
  }
}

/// A value that only a holder of the key can read, and nobody can change or move unnoticed.
///
/// A byte with the version of the form, 8 bytes with the name of the key, 24 random bytes as nonce, the ciphertext, 16 bytes of tag. The tag
/// covers the header and the associated data too.
public enum SealedValue {
  private static let version: UInt8 = 1
  /// The size of the header, version and name of the key, in bytes.
  public static let headerSize = 9
  /// What sealing adds to a value, in bytes.
  public static let overhead = headerSize + ExtendedGCM.nonceSize + ExtendedGCM.tagSize

  /// The header of what a key seals.
  public static func header(of key: KeyID) -> [UInt8] { [version] + key.bytes }

  /// Seals a value.
  ///
  /// - Parameter associated: What the value is: it opens only with the same.
  /// - Returns: Nil if the system has no random numbers, or libcrypto fails.
  public static func seal(_ plain: [UInt8], with key: SealingKey, associated: [UInt8]) -> [UInt8]? {
    let header = header(of: key.id)
    var nonce = [UInt8](repeating: 0, count: ExtendedGCM.nonceSize)
    guard getentropy(&nonce, nonce.count) == 0 else { return nil }
    return ExtendedGCM.seal(plain, with: key.secret, after: header + nonce, associated: header + associated)
  }

  /// Opens a value.
  public static func open(_ sealed: [UInt8], with keys: KeyRing, associated: [UInt8]) throws(SealFlaw) -> [UInt8] {
    guard let id = keyID(of: sealed) else { throw .unknownForm }
    guard let key = keys.key(id) else { throw .missingKey(id) }
    let header = sealed.prefix(headerSize)
    guard let plain = ExtendedGCM.open(sealed.dropFirst(headerSize), with: key.secret, associated: header + associated) else {
      throw .notAuthentic
    }
    return plain
  }

  /// The name of the key that has sealed it; nil if it is not in a form of this version.
  public static func keyID(of sealed: [UInt8]) -> KeyID? {
    guard sealed.count >= overhead, sealed[0] == version else { return nil }
    return KeyID(sealed[1..<headerSize])
  }
}
