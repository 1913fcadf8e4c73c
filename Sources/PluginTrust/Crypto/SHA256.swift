internal import COpenSSL

/// SHA-256 of content that arrives in parts.
public struct SHA256: ~Copyable {
  private let state: OpaquePointer

  init() {
    guard let state = EVP_MD_CTX_new(), EVP_DigestInit_ex2(state, Libcrypto.sha256, nil) == 1 else {
      preconditionFailure("libcrypto has no memory")
    }
    self.state = state
  }

  deinit { EVP_MD_CTX_free(state) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let code = EVP_DigestUpdate(state, bytes.baseAddress, bytes.count)
    precondition(code == 1, "libcrypto cannot hash")
  }

  /// The digest, 32 bytes.
  consuming func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
      let code = EVP_DigestFinal_ex(state, digest.baseAddress, nil)
      precondition(code == 1, "libcrypto cannot hash")
      count = 32
    }
  }

  /// The digest of `bytes`, 32 bytes.
  public static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hasher = SHA256()
    bytes.withUnsafeBytes { hasher.update($0) }
    return hasher.finish()
  }
}
