internal import COpenSSL

/// The system's libcrypto in its own context: `openssl.cnf` can disable or replace algorithms in the default context only.
package enum Libcrypto {
  /// Never freed; threads may share it.
  nonisolated(unsafe) package static let context: OpaquePointer = {
    guard let context = OSSL_LIB_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    return context
  }()

  /// Never freed; threads may share it.
  nonisolated(unsafe) static let sha256: OpaquePointer = {
    guard let algorithm = EVP_MD_fetch(context, "SHA256", nil) else { preconditionFailure("libcrypto has no SHA-256") }
    return algorithm
  }()
}
