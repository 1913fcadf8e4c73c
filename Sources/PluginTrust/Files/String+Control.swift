extension String {
  /// Whether there is a C0 or C1 control character or a delete in the text, which could forge lines of a log or move a terminal's cursor.
  var hasControlCharacters: Bool {
    unicodeScalars.contains { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
  }
}
