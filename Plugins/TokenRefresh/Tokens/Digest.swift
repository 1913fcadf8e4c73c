import COpenSSL
import StrictText

enum Digest {
  static func sha256(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let isDone = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    precondition(isDone == 1, "token-refresh: this machine's OpenSSL has no SHA-256; correct its openssl.cnf")
    return Hex.text(digest)
  }
}
