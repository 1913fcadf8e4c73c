/// One term of a filter: `state:failed,cancelled`, `payload.account.name:"x y"`.
struct FilterTerm: Hashable {
  /// A text between the commas of a term.
  struct Value: Hashable {
    /// The text without quotes.
    let text: String
    /// Whether the text was quoted: it then means exactly that string.
    let isQuoted: Bool
    /// The position of its first character, from 1.
    let position: Int
  }

  /// The word before the first dot or the colon.
  let name: String
  /// The names after it, which dots separate.
  let path: [String]
  /// At least one value; a term matches if one of them does.
  let values: [Value]
  /// The position of its first character, from 1.
  let position: Int
}
