internal import COpenSSL
import Glibc

/// Ed25519 of RFC 8032, with keys and signatures in its raw encoding.
enum Ed25519 {
  private static let keySize = 32
  private static let signatureSize = 64

  /// A new key from the system's random numbers; nil if there are none.
  static func newPrivateKey() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: keySize)
    return getentropy(&bytes, bytes.count) == 0 ? bytes : nil
  }

  /// The public key, 32 bytes; nil if the private key is not 32 bytes.
  static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
    withKey(privateKey, EVP_PKEY_new_raw_private_key_ex) { key in
      var (bytes, count) = ([UInt8](repeating: 0, count: keySize), keySize)
      return EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 && count == keySize ? bytes : nil
    }
  }

  /// The signature of `message`, 64 bytes; nil if libcrypto fails.
  static func signature(of message: [UInt8], with privateKey: [UInt8]) -> [UInt8]? {
    withKey(privateKey, EVP_PKEY_new_raw_private_key_ex) { key in
      let state = EVP_MD_CTX_new()
      defer { EVP_MD_CTX_free(state) }
      var (bytes, count) = ([UInt8](repeating: 0, count: signatureSize), signatureSize)
      guard EVP_DigestSignInit_ex(state, nil, nil, Libcrypto.context, nil, key, nil) == 1,
        EVP_DigestSign(state, &bytes, &count, message, message.count) == 1
      else { return nil }
      return count == signatureSize ? bytes : nil
    }
  }

  static func verifies(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    withKey(publicKey, EVP_PKEY_new_raw_public_key_ex) { key in
      let state = EVP_MD_CTX_new()
      defer { EVP_MD_CTX_free(state) }
      return EVP_DigestVerifyInit_ex(state, nil, nil, Libcrypto.context, nil, key, nil) == 1
        && EVP_DigestVerify(state, signature, signature.count, message, message.count) == 1
    } ?? false
  }

  private typealias Reader = (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<UInt8>?, Int) -> OpaquePointer?

  /// nil if `read` refuses `bytes`.
  private static func withKey<Result>(_ bytes: [UInt8], _ read: Reader, _ body: (OpaquePointer) -> Result?) -> Result? {
    // Failed calls leave errors in the thread's queue.
    defer { ERR_clear_error() }
    guard let key = read(Libcrypto.context, "ED25519", nil, bytes, bytes.count) else { return nil }
    defer { EVP_PKEY_free(key) }
    return body(key)
  }
}
