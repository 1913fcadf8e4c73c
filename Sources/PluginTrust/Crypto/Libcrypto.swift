internal import COpenSSL

/// The system's libcrypto, in a context of its own: what `openssl.cnf` turns off or replaces is for the default context only.
enum Libcrypto {
  /// Lives as long as the process. Threads may share it.
  nonisolated(unsafe) static let context: OpaquePointer = {
    guard let context = OSSL_LIB_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    return context
  }()

  /// Lives as long as the process. Threads may share it.
  nonisolated(unsafe) static let sha256: OpaquePointer = {
    guard let algorithm = EVP_MD_fetch(context, "SHA256", nil) else { preconditionFailure("libcrypto has no SHA-256") }
    return algorithm
  }()
}
