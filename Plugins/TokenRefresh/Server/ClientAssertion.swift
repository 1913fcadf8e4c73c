import FoundationEssentials
import StrictText

/// A signed statement of the client's identity, in place of a secret: `private_key_jwt` (RFC 7523 §2.2, OpenID Connect Core §9).
enum ClientAssertion {
  /// The validity in seconds: 5 minutes, which covers a slow exchange and a slightly wrong clock.
  static let lifetime = 300

  static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  /// Signs an assertion.
  ///
  /// - Parameters:
  ///   - key: The client's private key in PEM. Its kind decides the algorithm: RSA of 2048 bits or more RS256, P-256 ES256, P-384 ES384,
  ///     P-521 ES512.
  ///   - keyID: The `kid` under which the server knows the key; nil omits it.
  ///   - audience: The server that must accept the assertion.
  /// - Throws: ``Unusable`` if the key is none of these.
  static func make(clientID: String, audience: String, key: Secret, keyID: String?, now: Date) throws -> Secret {
    let key = try signingKey(in: key.reveal())
    let issued = Int64(now.timeIntervalSince1970)
    let identifier = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    var header: [String: JSONValue] = ["alg": .string(key.algorithm.rawValue), "typ": .string("JWT")]
    if let keyID { header["kid"] = .string(keyID) }
    let claims: [String: JSONValue] = [
      "iss": .string(clientID), "sub": .string(clientID), "aud": .string(audience), "jti": .string(base64URL(identifier)),
      "iat": .integer(issued), "exp": .integer(issued + Int64(lifetime)),
    ]
    let content = try base64URL(encode(header)) + "." + base64URL(encode(claims))
    guard let signature = key.sign(Array(content.utf8)) else { throw Unusable() }
    return Secret(content + "." + base64URL(signature))
  }

  /// The first private key in the text that can sign.
  private static func signingKey(in pem: String) throws(Unusable) -> SigningKey {
    for block in PrivateKeyBlocks.find(in: pem) {
      if let key = SigningKey(block: block) { return key }
    }
    throw Unusable()
  }

  private static func encode(_ members: [String: JSONValue]) throws -> [UInt8] {
    Array(try JSONEncoder.sorted().encode(JSONValue.object(members)))
  }

  private static func base64URL(_ bytes: [UInt8]) -> String {
    String(Base64.encode(bytes).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  /// The key cannot sign an assertion. The text reveals nothing of the key.
  struct Unusable: Error {
    let reason =
      "is not a PEM private key that can sign: use an RSA key of at least 2048 bits, or a P-256, P-384 or P-521 key, without a password"
  }
}
