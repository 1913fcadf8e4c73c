/// Stands in for swift-crypto in the fuzzers: the same names, and sums that a fuzzer can hit.
///
/// With SHA-256 no changed key file would ever get past its id. What is fuzzed is what the host itself reads.
public struct SHA256 {
  private var sum: UInt8 = 0

  /// Nothing hashed yet.
  public init() {}

  /// Takes `bufferPointer` in.
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) { for byte in bufferPointer { sum ^= byte } }

  /// 32 times the sum.
  public func finalize() -> [UInt8] { Array(repeating: sum, count: 32) }

  /// The sum of `data`.
  public static func hash(data: [UInt8]) -> [UInt8] {
    var hasher = SHA256()
    data.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize()
  }
}

/// Ed25519's place.
public enum Curve25519 {
  /// Signatures.
  public enum Signing {
    /// Something that is not what it should be.
    public struct Flaw: Error {}

    /// 32 bytes.
    public struct PublicKey: Sendable {
      /// The bytes.
      public let rawRepresentation: [UInt8]

      /// Any 32 bytes are a key.
      public init(rawRepresentation: [UInt8]) throws {
        guard rawRepresentation.count == 32 else { throw Flaw() }
        self.rawRepresentation = rawRepresentation
      }

      fileprivate init(unchecked bytes: [UInt8]) { rawRepresentation = bytes }

      /// Whether the first bytes are those of `data`'s sum.
      public func isValidSignature(_ signature: [UInt8], for data: [UInt8]) -> Bool { signature.starts(with: SHA256.hash(data: data)) }
    }

    /// 32 bytes.
    public struct PrivateKey: Sendable {
      /// The bytes.
      public let rawRepresentation: [UInt8]
      /// Its public half, which is the same.
      public let publicKey: PublicKey

      /// A key of zeros.
      public init() {
        rawRepresentation = Array(repeating: 0, count: 32)
        publicKey = PublicKey(unchecked: rawRepresentation)
      }

      /// Any 32 bytes are a key.
      public init(rawRepresentation: [UInt8]) throws {
        guard rawRepresentation.count == 32 else { throw Flaw() }
        publicKey = PublicKey(unchecked: rawRepresentation)
        self.rawRepresentation = rawRepresentation
      }

      /// 64 bytes that begin with `data`'s sum.
      public func signature(for data: [UInt8]) throws -> [UInt8] { SHA256.hash(data: data) + Array(repeating: 0, count: 32) }
    }
  }
}
