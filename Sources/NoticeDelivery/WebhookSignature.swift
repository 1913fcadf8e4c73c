internal import COpenSSL
import StrictText

/// The signature of a webhook, as https://www.standardwebhooks.com describes it: an HMAC with SHA-256 over id, time and body.
public struct WebhookSignature: Sendable {
  /// The most bytes of a file with a secret.
  static let mostFileBytes = 4096

  private let key: [UInt8]

  /// Reads a secret: the base64 after `whsec_`, or otherwise the text itself. Blanks and line ends around it do not count.
  ///
  /// - Returns: Nil if the text is empty, or has something else than base64 after `whsec_`.
  public init?(secret text: String) {
    let blanks: Set<Character> = [" ", "\t", "\n", "\r", "\r\n"]
    var secret = Substring(text)
    while let first = secret.first, blanks.contains(first) { secret.removeFirst() }
    while let last = secret.last, blanks.contains(last) { secret.removeLast() }
    let prefix = "whsec_"
    if secret.hasPrefix(prefix) {
      guard let key = Base64.decode(String(secret.dropFirst(prefix.count))) else { return nil }
      self.key = key
    } else {
      key = Array(secret.utf8)
    }
    if key.isEmpty { return nil }
  }

  /// The value of the header `webhook-signature`; nil if the machine's OpenSSL lacks what it takes.
  ///
  /// - Parameter time: The value of `webhook-timestamp`, in seconds since 1970.
  public func header(id: String, time: Int64, body: [UInt8]) -> String? {
    let content = Array("\(id).\(time).".utf8) + body
    var digest = [UInt8](repeating: 0, count: 64)
    var size = 0
    let result = content.withUnsafeBufferPointer { content in
      key.withUnsafeBufferPointer { key in
        EVP_Q_mac(
          nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, content.baseAddress, content.count, &digest, digest.count, &size)
      }
    }
    guard result != nil, size == 32 else { return nil }
    return "v1," + Base64.encode(Array(digest.prefix(size)))
  }
}
