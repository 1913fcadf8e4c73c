// Stands in for Sources/PluginTrust/Crypto in the fuzzers: the same names, and sums that a fuzzer can hit. With SHA-256 no changed key file
// would ever get past its id. What is fuzzed is what the host itself reads.

/// 32 times the sum of the bytes.
public struct SHA256: ~Copyable {
  private var sum: UInt8 = 0

  init() {}

  mutating func update(_ bytes: UnsafeRawBufferPointer) { for byte in bytes { sum ^= byte } }

  consuming func finish() -> [UInt8] { Array(repeating: sum, count: 32) }

  /// The sum of `bytes`.
  public static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hasher = SHA256()
    bytes.withUnsafeBytes { hasher.update($0) }
    return hasher.finish()
  }
}

/// Any 32 bytes are a key, whose public half is the same. A signature begins with the sum of what it signs.
enum Ed25519 {
  static func newPrivateKey() -> [UInt8]? { Array(repeating: 0, count: 32) }

  static func publicKey(of privateKey: [UInt8]) -> [UInt8]? { privateKey.count == 32 ? privateKey : nil }

  static func signature(of message: [UInt8], with privateKey: [UInt8]) -> [UInt8]? {
    SHA256.digest(of: message) + Array(repeating: 0, count: 32)
  }

  static func verifies(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    signature.starts(with: SHA256.digest(of: message))
  }
}
