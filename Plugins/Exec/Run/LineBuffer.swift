/// Divides a stream of bytes into lines. Keeps at most one line, of limited length.
struct LineBuffer {
  private var rest: [UInt8] = []
  /// Whether the bytes up to the next line feed end a line that nobody wants.
  private var isSkipping = false
  private let limit: Int

  /// - Parameter limit: The maximum length of a line in bytes. A longer one comes in pieces.
  init(limit: Int) { self.limit = limit }

  /// Whether bytes wait for the end of their line.
  var isEmpty: Bool { rest.isEmpty }

  /// Takes bytes, and passes on each line that they complete, without its line feed.
  mutating func take(_ bytes: UnsafeRawBufferPointer, _ line: ([UInt8]) throws -> Void) rethrows {
    var start = 0
    if isSkipping {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return }
      isSkipping = false
      start = end + 1
    }
    while start < bytes.count {
      let room = limit - rest.count
      let slice = bytes[start..<min(bytes.count, start + room)]
      if let end = slice.firstIndex(of: UInt8(ascii: "\n")) {
        rest.append(contentsOf: bytes[start..<end])
        start = end + 1
      } else {
        rest.append(contentsOf: slice)
        start = slice.endIndex
        if rest.count < limit { continue }
      }
      let complete = rest
      rest.removeAll(keepingCapacity: true)
      try line(complete)
    }
  }

  /// Drops the line that has begun, with what is still to come of it.
  mutating func skipLine() {
    guard !rest.isEmpty else { return }
    rest = []
    isSkipping = true
  }

  /// Passes on what is left at the end of the stream.
  mutating func finish(_ line: ([UInt8]) throws -> Void) rethrows {
    guard !rest.isEmpty else { return }
    let last = rest
    rest = []
    try line(last)
  }
}
