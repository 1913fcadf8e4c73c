import FoundationEssentials

/// The file `NAME.signed-out` beside a token file `NAME`: the server has refused its tokens for good, and somebody has to sign in again.
///
/// It holds no secret. Programs that read the token file look for it, or watch the folder.
struct SignedOutMark: Sendable, Encodable {
  static let suffix = ".signed-out"

  let account: String
  let error: String
  let detail: String
  /// When the server refused; nil if that is not known.
  let since: Date?

  /// JSON with sorted keys and a final newline.
  func encoded() throws -> [UInt8] {
    Array(try JSONEncoder.sorted(.prettyPrinted).encode(self)) + [UInt8(ascii: "\n")]
  }
}
