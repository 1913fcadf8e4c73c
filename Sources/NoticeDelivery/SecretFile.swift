import Glibc

/// Why a secret cannot be used, a sentence.
public struct SecretProblem: Error, Sendable, CustomStringConvertible {
  /// The sentence.
  public let description: String
}

extension WebhookSignature {
  /// Reads the secret in a file, of at most 4096 bytes.
  public init(file path: String) throws(SecretProblem) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw SecretProblem(description: "secret_file \(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.mostFileBytes + 1)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw SecretProblem(description: "secret_file \(path): \(String(cString: strerror(errno)))") }
    guard count <= Self.mostFileBytes, let signature = Self(secret: String(decoding: bytes.prefix(count), as: UTF8.self)) else {
      throw SecretProblem(description: "secret_file \(path) has no secret: write one there, as text or as whsec_ and base64")
    }
    self = signature
  }
}
