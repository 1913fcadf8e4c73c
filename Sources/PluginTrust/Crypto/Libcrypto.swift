internal import COpenSSL

/// The system's libcrypto in its own context: `openssl.cnf` can disable or replace algorithms in the default context only.
package enum Libcrypto {
  /// Never freed; threads may share it.
  nonisolated(unsafe) package static let context: OpaquePointer = {
    guard let context = OSSL_LIB_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    return context
  }()

  /// Never freed; threads may share it. nil if libcrypto has none.
  nonisolated(unsafe) private static let fetchedSHA256 = EVP_MD_fetch(context, "SHA256", nil)

  /// A launch has asked ``hasSHA256`` before.
  static var sha256: OpaquePointer {
    guard let fetchedSHA256 else { preconditionFailure("libcrypto has no SHA-256") }
    return fetchedSHA256
  }

  /// Whether it has SHA-256, without which no file can be told from another.
  package static var hasSHA256: Bool { fetchedSHA256 != nil }
}
