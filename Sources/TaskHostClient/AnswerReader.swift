/// Parses an HTTP/1.1 answer as it arrives (RFC 9112). The body has a length, comes in chunks, or ends with the connection.
package struct AnswerReader {
  /// What arrived is not an HTTP answer.
  package struct Flaw: Error, CustomStringConvertible {
    package let description: String
  }

  private enum State {
    case statusLine, headers, trailers, ended
    case body(left: Int)
    case chunkSize, chunkEnd
    case chunk(left: Int)
    case bodyToTheEnd
  }

  /// The maximum length of a head's line in bytes.
  private static let longestLine = 65_536

  /// 0 until the answer's first line has been read.
  package private(set) var status = 0
  private var state = State.statusLine
  private var line: [UInt8] = []
  private var length: Int?
  private var isChunked = false

  package var hasEnded: Bool { if case .ended = state { true } else { false } }
  /// Whether the answer is complete if the connection ends now.
  package var mayEnd: Bool { if case .bodyToTheEnd = state { true } else { hasEnded } }

  /// Takes the connection's next bytes.
  ///
  /// - Returns: The part of the body among them.
  package mutating func take(_ bytes: some Collection<UInt8>) throws(Flaw) -> [UInt8] {
    var rest = ArraySlice(bytes)
    var body: [UInt8] = []
    while !rest.isEmpty, !hasEnded {
      switch state {
      case .bodyToTheEnd: body += takePrefix(of: &rest, rest.count)
      case .body(let left), .chunk(let left):
        let part = takePrefix(of: &rest, left)
        body += part
        move(left: left - part.count)
      default:
        line += takePrefix(of: &rest, (rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex - 1) - rest.startIndex + 1)
        guard line.count <= Self.longestLine else { throw Flaw(description: "a line of its head is too long") }
        guard line.last == UInt8(ascii: "\n") else { break }
        // A line ends in LF or CRLF, each of which is one character.
        let text = String(decoding: line, as: UTF8.self).dropLast()
        line = []
        try read(text)
      }
    }
    return body
  }

  private func takePrefix(of rest: inout ArraySlice<UInt8>, _ count: Int) -> ArraySlice<UInt8> {
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private mutating func move(left: Int) {
    switch state {
    case .chunk: state = left > 0 ? .chunk(left: left) : .chunkEnd
    default: state = left > 0 ? .body(left: left) : .ended
    }
  }

  private mutating func read(_ text: Substring) throws(Flaw) {
    switch state {
    case .statusLine:
      let words = text.split(separator: " ", maxSplits: 2)
      guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
        throw Flaw(description: "the answer is not HTTP/1.1")
      }
      self.status = status
      state = .headers
    case .headers where text.isEmpty: state = afterHead()
    case .headers: try readHeader(text)
    case .chunkSize:
      guard let size = Int(text.prefix { $0 != ";" && $0 != " " }, radix: 16), size >= 0 else {
        throw Flaw(description: "a chunk has no size")
      }
      state = size > 0 ? .chunk(left: size) : .trailers
    case .chunkEnd: state = .chunkSize
    case .trailers: if text.isEmpty { state = .ended }
    case .body, .chunk, .bodyToTheEnd, .ended: break
    }
  }

  private mutating func readHeader(_ text: Substring) throws(Flaw) {
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2 else { throw Flaw(description: "a header has no colon") }
    let value = halves[1].filter { $0 != " " }
    switch halves[0].lowercased() {
    case "content-length":
      guard let count = Int(value), count >= 0 else { throw Flaw(description: "its length is not a number") }
      length = count
    case "transfer-encoding": isChunked = value.lowercased() == "chunked"
    default: break
    }
  }

  private func afterHead() -> State {
    switch (status, length) {
    // An interim answer, which another answer follows.
    case (100..<200, _): .statusLine
    case (204, _), (304, _): .ended
    case _ where isChunked: .chunkSize
    case (_, let length?): length > 0 ? .body(left: length) : .ended
    case (_, nil): .bodyToTheEnd
    }
  }
}
