/// Builds a ``TransferHead`` from the lines of an answer's head.
struct HeadReader {
  /// Set at the empty line that ends the head; later lines are trailers.
  private(set) var head: TransferHead?

  /// The last interim answer (1xx) since it was taken with ``takeInterim()``.
  private var interim: TransferHead?
  private let limit: Int
  private let url: String
  private var taken = 0
  private var headers: [(name: String, value: String)] = []

  /// - Parameters:
  ///   - limit: The largest head, with all interim answers before it, in bytes.
  ///   - url: What was asked.
  init(limit: Int, url: String) {
    self.limit = limit
    self.url = url
  }

  mutating func takeInterim() -> TransferHead? {
    defer { interim = nil }
    return interim
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
      let whole = TransferHead(status: status, headers: headers, url: url)
      // Interim answers are followed by another head.
      if status >= 200 { head = whole } else { interim = whole }
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
