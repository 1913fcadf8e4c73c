/// A line `NAME = VALUE` of a crontab.
enum CrontabVariable {
  private enum State { case beforeName, name, beforeSign, afterSign, value, end }

  /// Reads a line as Debian's cron does; nil if it does not set a variable.
  ///
  /// Name and value may stand in quotes. Without them, blanks at the end of the value do not count. Nothing is expanded.
  ///
  /// - Parameter allowsNothing: Whether `NAME=` sets an empty value. Debian's cron takes it for a line with a bad minute.
  static func read(_ line: ArraySlice<UInt8>, allowsNothing: Bool) -> (name: [UInt8], value: [UInt8])? {
    var (name, value): ([UInt8], [UInt8]) = ([], [])
    var state = State.beforeName
    var quote: UInt8?
    var position = line.startIndex
    func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") }
    while position < line.endIndex {
      let byte = line[position]
      switch state {
      case .beforeName:
        guard !Bytes.isBlank(byte) else { break }
        state = .name
        if isQuote(byte) { quote = byte } else { continue }
      case .name:
        if let end = quote, byte == end {
          (state, quote) = (.beforeSign, nil)
        } else if quote == nil, byte == UInt8(ascii: "=") {
          state = .beforeSign
          continue
        } else if quote == nil, Bytes.isSpace(byte) {
          state = .beforeSign
        } else {
          name.append(byte)
        }
      case .beforeSign:
        if byte == UInt8(ascii: "=") { state = .afterSign } else if !Bytes.isSpace(byte) { return nil }
      case .afterSign:
        guard !Bytes.isSpace(byte) else { break }
        state = .value
        if isQuote(byte) { quote = byte } else { continue }
      case .value:
        if let end = quote, byte == end { (state, quote) = (.end, nil) } else { value.append(byte) }
      case .end:
        if !Bytes.isSpace(byte) { return nil }
      }
      position += 1
    }
    switch state {
    case .end: return (name, value)
    case .value where quote == nil:
      while let last = value.last, Bytes.isSpace(last) { value.removeLast() }
      return (name, value)
    case .afterSign where allowsNothing: return (name, [])
    default: return nil
    }
  }
}
