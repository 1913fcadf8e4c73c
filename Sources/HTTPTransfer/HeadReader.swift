/// Builds a ``TransferHead`` from the lines of an answer's head.
struct HeadReader {
  /// Set at the empty line that ends the head; later lines are trailers.
  private(set) var head: TransferHead?

  private let limit: Int
  private var taken = 0
  private var headers: [(name: String, value: String)] = []

  init(limit: Int) {
    self.limit = limit
  }

  /// Forgets the answer before, which was a redirect.
  mutating func beginAgain() {
    head = nil
    headers = []
    taken = 0
  }

  /// Reads one line with its end.
  ///
  /// - Parameter status: The status of the line's answer.
  /// - Returns: false once the head is larger than its limit.
  mutating func take(_ line: some Collection<UInt8>, status: @autoclosure () -> Int) -> Bool {
    guard head == nil else { return true }
    taken += line.count
    guard taken <= limit else { return false }
    let text = String(decoding: line, as: UTF8.self).trimmed(where: { $0.isNewline })
    if text.isEmpty {
      let status = status()
      // Interim answers are followed by another head.
      if status >= 200 { head = TransferHead(status: status, headers: headers) }
      headers = []
    } else if let first = text.first, first == " " || first == "\t" {
      guard let last = headers.popLast() else { return true }
      headers.append((last.name, last.value + " " + text.trimmed(where: \.isWhitespace)))
    } else if let colon = text.firstIndex(of: ":") {
      headers.append((String(text[..<colon]), String(text[text.index(after: colon)...]).trimmed(where: \.isWhitespace)))
    }
    return true
  }
}

extension String {
  fileprivate func trimmed(where drops: (Character) -> Bool) -> String {
    var rest = self[...].drop(while: drops)
    while let last = rest.last, drops(last) { rest.removeLast() }
    return String(rest)
  }
}
