import FoundationEssentials

/// The file `NAME.signed-out` beside a token file `NAME`: the server has refused its tokens permanently, and someone must sign in again.
///
/// It contains no secret. Programs that read the token file look for the mark, or watch the folder.
struct SignedOutMark: Sendable, Encodable {
  static let suffix = ".signed-out"

  let account: String
  let error: String
  let detail: String
  /// When the server refused; nil if unknown.
  let since: Date?

  /// JSON with sorted keys and a final newline.
  func encoded() throws -> [UInt8] {
    Array(try JSONEncoder.sorted(.prettyPrinted).encode(self)) + [UInt8(ascii: "\n")]
  }
}
