internal import COpenSSL
import PluginTrust

/// AES-256-GCM with random nonces of 192 bits: each nonce gives a key of its own, so that a key may seal any number of values. With nonces
/// of 96 bits, a key would have to be replaced after 2³² values.
///
/// - Source: c2sp.org/XAES-256-GCM, which is AES-256-GCM of NIST SP 800-38D under keys derived by the KDF of SP 800-108 with CMAC.
enum ExtendedGCM {
  static let nonceSize = 24
  static let tagSize = 16

  /// Never freed; threads may share them.
  nonisolated(unsafe) private static let fetched = names.map { EVP_CIPHER_fetch(Libcrypto.context, $0, nil) }
  private static let names = ["AES-256-GCM", "AES-256-ECB"]
  private static var gcm: OpaquePointer { cipher(0) }
  private static var ecb: OpaquePointer { cipher(1) }

  /// The ciphers that libcrypto lacks.
  static var missing: [String] { zip(names, fetched).filter { $1 == nil }.map(\.0) }

  /// Whoever has keys has asked for ``missing`` before.
  private static func cipher(_ index: Int) -> OpaquePointer {
    guard let cipher = fetched[index] else { preconditionFailure("libcrypto has no \(names[index])") }
    return cipher
  }

  /// Seals a value.
  ///
  /// - Parameter head: Stands before the sealed bytes; its last ``nonceSize`` bytes are the nonce.
  /// - Returns: `head`, ciphertext and tag; nil if libcrypto fails.
  static func seal(_ plain: [UInt8], with key: SecretBytes, after head: [UInt8], associated: [UInt8]) -> [UInt8]? {
    let nonce = Array(head.suffix(nonceSize))
    return withContext(key, nonce) { (state, derived) -> [UInt8]? in
      var count: Int32 = 0
      guard EVP_EncryptInit_ex2(state, gcm, derived, Array(nonce.suffix(12)), nil) == 1,
        EVP_EncryptUpdate(state, nil, &count, associated, Int32(associated.count)) == 1
      else { return nil }
      var isSealed = false
      let sealed = [UInt8](unsafeUninitializedCapacity: head.count + plain.count + tagSize) { sealed, filled in
        guard let start = sealed.baseAddress else { return }
        start.initialize(from: head, count: head.count)
        let text = start + head.count
        // GCM writes nothing at the end.
        isSealed =
          (plain.isEmpty || EVP_EncryptUpdate(state, text, &count, plain, Int32(plain.count)) == 1)
          && EVP_EncryptFinal_ex(state, text + plain.count, &count) == 1
          && EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_GET_TAG, Int32(tagSize), text + plain.count) == 1
        filled = isSealed ? sealed.count : 0
      }
      return isSealed ? sealed : nil
    } ?? nil
  }

  /// The plain bytes of nonce, ciphertext and tag; nil if the tag is not theirs.
  static func open(_ sealed: ArraySlice<UInt8>, with key: SecretBytes, associated: [UInt8]) -> [UInt8]? {
    guard sealed.count >= nonceSize + tagSize else { return nil }
    let nonce = Array(sealed.prefix(nonceSize))
    let text = Array(sealed.dropFirst(nonceSize).dropLast(tagSize))
    var tag = Array(sealed.suffix(tagSize))
    return withContext(key, nonce) { (state, derived) -> [UInt8]? in
      guard EVP_DecryptInit_ex2(state, gcm, derived, Array(nonce.suffix(12)), nil) == 1 else { return nil }
      var count: Int32 = 0
      guard EVP_DecryptUpdate(state, nil, &count, associated, Int32(associated.count)) == 1 else { return nil }
      var isAuthentic = false
      let plain = [UInt8](unsafeUninitializedCapacity: text.count + 1) { plain, filled in
        guard let start = plain.baseAddress else { return }
        isAuthentic =
          (text.isEmpty || EVP_DecryptUpdate(state, start, &count, text, Int32(text.count)) == 1)
          && EVP_CIPHER_CTX_ctrl(state, EVP_CTRL_AEAD_SET_TAG, Int32(tagSize), &tag) == 1
          && EVP_DecryptFinal_ex(state, start + text.count, &count) == 1
        // Nobody may see what is not authentic.
        if !isAuthentic { OPENSSL_cleanse(start, text.count) }
        filled = isAuthentic ? text.count : 0
      }
      return isAuthentic ? plain : nil
    } ?? nil
  }

  /// Calls `body` with a context and the key that belongs to the first half of the nonce.
  private static func withContext<Result>(_ key: SecretBytes, _ nonce: [UInt8], _ body: (OpaquePointer, [UInt8]) -> Result) -> Result? {
    // Failed calls leave errors in the thread's queue.
    defer { ERR_clear_error() }
    guard let state = EVP_CIPHER_CTX_new() else { return nil }
    defer { EVP_CIPHER_CTX_free(state) }
    guard var derived = derive(key, nonce, state) else { return nil }
    defer { derived.wipe() }
    return body(state, derived)
  }

  /// - Source: the specification's names: L, K1, M1, M2.
  private static func derive(_ key: SecretBytes, _ nonce: [UInt8], _ state: OpaquePointer) -> [UInt8]? {
    let isReady = key.withBytes { EVP_EncryptInit_ex2(state, ecb, $0.baseAddress, nil, nil) } == 1
    guard isReady, EVP_CIPHER_CTX_set_padding(state, 0) == 1 else { return nil }
    var (count, block): (Int32, [UInt8]) = (0, [UInt8](repeating: 0, count: 16))
    defer { block.wipe() }
    guard EVP_EncryptUpdate(state, &block, &count, [UInt8](repeating: 0, count: 16), 16) == 1, count == 16 else { return nil }
    let carry: UInt8 = block[0] >> 7
    for index in 0..<15 { block[index] = block[index] << 1 | block[index + 1] >> 7 }
    block[15] = block[15] << 1 ^ (carry * 0x87)
    var message: [UInt8] = []
    defer { message.wipe() }
    for counter: UInt8 in 1...2 {
      let part: [UInt8] = [0, counter, UInt8(ascii: "X"), 0] + nonce.prefix(12)
      message += zip(part, block).map { $0 ^ $1 }
    }
    var derived = [UInt8](repeating: 0, count: 32)
    guard EVP_EncryptUpdate(state, &derived, &count, message, 32) == 1, count == 32 else { return nil }
    return derived
  }
}
