import StrictText

/// Sizes as operators write them: `256MiB`, `1GB`.
enum ByteCountText {
  /// Reads a whole number with a unit.
  static func parse(_ text: String) throws(TextProblem) -> Int {
    do { return Int(try ByteCountFormat.bytes(of: text)) } catch .tooLarge { throw TextProblem("the size \"\(text)\" is too large") } catch
    {
      throw TextProblem("expected a size such as \"256MiB\" or \"1GB\", or a number of bytes, found \"\(text)\"")
    }
  }
}
