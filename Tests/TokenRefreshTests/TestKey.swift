import COpenSSL

/// A key of an elliptic curve, which verifies what the plugin signed.
final class TestKey {
  enum Curve: String, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"
  }

  /// OpenSSL cannot do this.
  struct Failure: Error {}

  private let key: OpaquePointer
  private let curve: Curve

  /// A new key.
  init(_ curve: Curve = .p256) throws {
    let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, curve.rawValue) == 1,
      EVP_PKEY_generate(context, &key) == 1, let key
    else { throw Failure() }
    (self.key, self.curve) = (key, curve)
  }

  /// The key of a PEM block, of P-256.
  init(pem: String) throws {
    let bytes = Array(pem.utf8)
    let source = BIO_new_mem_buf(bytes, Int32(bytes.count))
    defer { BIO_free(source) }
    guard let key = PEM_read_bio_PrivateKey(source, nil, nil, nil) else { throw Failure() }
    (self.key, curve) = (key, .p256)
  }

  deinit { EVP_PKEY_free(key) }

  /// The private key as a PEM block of PKCS #8.
  var pem: String {
    get throws {
      let target = BIO_new(BIO_s_mem())
      defer { BIO_free(target) }
      guard PEM_write_bio_PKCS8PrivateKey(target, key, nil, nil, 0, nil, nil) == 1 else { throw Failure() }
      var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
      BIO_read(target, &bytes, Int32(bytes.count))
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Whether `signature`, two numbers in the full length of the curve's, is the key's signature of `message`.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    let (hash, size) =
      switch curve {
      case .p256: (EVP_sha256(), 32)
      case .p384: (EVP_sha384(), 48)
      case .p521: (EVP_sha512(), 66)
      }
    guard signature.count == size * 2 else { return false }
    let encoded = Self.sequence(Self.integer(signature.prefix(size)) + Self.integer(signature.suffix(size)))
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, hash, nil, key) == 1
      && EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
  }

  /// A positive INTEGER of ASN.1 in DER: no zeros in front but one that keeps it positive.
  private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
    var bytes = Array(number.drop { $0 == 0 })
    if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
    return [0x02, UInt8(bytes.count)] + bytes
  }

  /// A SEQUENCE of less than 256 bytes.
  private static func sequence(_ content: [UInt8]) -> [UInt8] {
    (content.count < 0x80 ? [0x30] : [0x30, 0x81]) + [UInt8(content.count)] + content
  }
}
