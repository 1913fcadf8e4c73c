/// Numbers in headers.
public enum HeaderNumber {
  /// Reads digits, and nothing else: no sign, no space.
  ///
  /// - Returns: nil for any other text, and above the largest `Int64`.
  public static func read(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }
}
