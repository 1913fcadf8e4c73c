import COpenSSL

/// A private key that can sign an assertion: RSA of 2048 bits or more, P-256, P-384 or P-521.
struct SigningKey: ~Copyable {
  let algorithm: Algorithm
  private let key: OpaquePointer

  enum Algorithm: String {
    case rs256 = "RS256"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
  }

  /// Reads the key in a PEM block without a password; nil if it is none of these.
  init?(block pem: String) {
    let text = Array(pem.utf8)
    let source = BIO_new_mem_buf(text, Int32(clamping: text.count))
    defer { BIO_free(source) }
    // Without the callback, OpenSSL would ask for a password at the terminal.
    guard let key = PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil) else {
      ERR_clear_error()
      return nil
    }
    guard let algorithm = Self.algorithm(of: key) else {
      EVP_PKEY_free(key)
      return nil
    }
    self.key = key
    self.algorithm = algorithm
  }

  deinit {
    EVP_PKEY_free(key)
  }

  /// The signature in the form of a JWT: RSASSA-PKCS1-v1_5, or the two numbers of ECDSA at full length. nil if OpenSSL refuses.
  func sign(_ bytes: [UInt8]) -> [UInt8]? {
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    var count = 0
    guard EVP_DigestSignInit(context, nil, digest, nil, key) == 1, EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1 else {
      return nil
    }
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else { return nil }
    signature.removeLast(signature.count - count)
    return numberBytes.map { Self.numbers(of: signature, bytes: $0) } ?? signature
  }

  private var digest: OpaquePointer? {
    switch algorithm {
    case .rs256, .es256: EVP_sha256()
    case .es384: EVP_sha384()
    case .es512: EVP_sha512()
    }
  }

  /// The length in bytes of each number of an ECDSA signature.
  private var numberBytes: Int32? {
    switch algorithm {
    case .rs256: nil
    case .es256: 32
    case .es384: 48
    case .es512: 66
    }
  }

  private static func algorithm(of key: OpaquePointer) -> Algorithm? {
    switch EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA: return EVP_PKEY_get_bits(key) >= 2048 ? .rs256 : nil
    case EVP_PKEY_EC:
      var name = [CChar](repeating: 0, count: 64)
      guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
      return switch name.withUnsafeBufferPointer({ $0.baseAddress.map { String(cString: $0) } }) {
      case "prime256v1": .es256
      case "secp384r1": .es384
      case "secp521r1": .es512
      default: nil
      }
    default: return nil
    }
  }

  /// r and s, which OpenSSL wraps in ASN.1 (RFC 7518 §3.4); nil if they do not fit.
  private static func numbers(of signature: [UInt8], bytes: Int32) -> [UInt8]? {
    let pair = signature.withUnsafeBufferPointer { signature in
      var start = signature.baseAddress
      return d2i_ECDSA_SIG(nil, &start, signature.count)
    }
    guard let pair else { return nil }
    defer { ECDSA_SIG_free(pair) }
    var numbers = [UInt8](repeating: 0, count: Int(bytes) * 2)
    let isWhole = numbers.withUnsafeMutableBufferPointer { numbers in
      guard let start = numbers.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(pair), start, bytes) == bytes
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), start + Int(bytes), bytes) == bytes
    }
    return isWhole ? numbers : nil
  }
}

/// The private keys in a text of PEM blocks (RFC 7468).
///
/// A file may contain more than the key: `openssl ecparam -genkey` writes the curve's parameters before it, other tools add certificates.
enum PrivateKeyBlocks {
  /// Each block whose label ends in `PRIVATE KEY`, from its first line to its last, in the order of the text. Other blocks, and text
  /// between blocks, are skipped.
  static func find(in text: String) -> [String] {
    var found: [String] = []
    var block: [Substring]?
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("-----BEGIN ") { block = line.hasSuffix("PRIVATE KEY-----") ? [] : nil }
      block?.append(line)
      if line.hasPrefix("-----END "), let lines = block {
        found.append(lines.joined(separator: "\n") + "\n")
        block = nil
      }
    }
    return found
  }
}
