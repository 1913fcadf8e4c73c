extension String {
  /// Whether the text has a C0 or C1 control or delete character, which could forge log lines or move a terminal's cursor.
  var hasControlCharacters: Bool {
    unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
  }

  /// The part after the last slash, or the whole text without a slash.
  var lastComponent: String { utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self }
}
