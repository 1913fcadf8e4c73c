/// One of the five fields, as Debian's cron reads it.
///
/// Its rules were tried with the `crontab` of Debian 12 (3.0pl1-162), which differs from its manual: what follows a complete field without a
/// blank is skipped, a range may end before it begins and is then empty, and a step needs `*` or a range.
struct VixieField: Equatable {
  enum Kind: CaseIterable {
    case minute, hour, day, month, weekday

    var range: ClosedRange<Int> {
      switch self {
      case .minute: 0...59
      case .hour: 0...23
      case .day: 1...31
      case .month: 1...12
      case .weekday: 0...7
      }
    }

    /// The largest step that `CronExpression` takes.
    var largestStep: Int { range.upperBound }

    var names: [String] {
      switch self {
      case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
      case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
      default: []
      }
    }

    /// As cron's messages name it.
    var title: String {
      switch self {
      case .minute: "minute"
      case .hour: "hour"
      case .day: "day-of-month"
      case .month: "month"
      case .weekday: "day-of-week"
      }
    }
  }

  /// The field in a form that `CronExpression` reads with the same meaning; empty if no number is in it.
  let text: String
  /// Whether it begins with `*`.
  let isStar: Bool
  /// What was written and how cron reads it, if that is a surprise.
  let surprise: String?

  /// Reads a field at `position`, and the blanks after it; nil if cron refuses it.
  init?(_ kind: Kind, _ line: ArraySlice<UInt8>, at position: inout Int) {
    let begin = position
    var parts: [String] = []
    var isOdd = false
    func peek() -> UInt8? { position < line.endIndex ? line[position] : nil }
    func number(_ names: [String], in range: ClosedRange<Int>?) -> (value: Int, text: String)? {
      let from = position
      while let byte = peek(), Bytes.isAlphanumeric(byte) { position += 1 }
      let word = line[from..<position]
      guard !word.isEmpty, word.count < 100 else { return nil }
      let text = String(decoding: word, as: UTF8.self)
      if let index = names.firstIndex(of: text.lowercased()) { return (kind.range.lowerBound + index, text) }
      guard word.allSatisfy(Bytes.isDigit), let value = Int(text), value <= Int(Int32.max) else { return nil }
      return range.map { $0.contains(value) } ?? true ? (value, "\(value)") : nil
    }
    isStar = peek() == UInt8(ascii: "*")
    list: while true {
      let low: (value: Int, text: String)
      let high: (value: Int, text: String)
      let isAll = peek() == UInt8(ascii: "*")
      if isAll {
        position += 1
        (low, high) = ((kind.range.lowerBound, ""), (kind.range.upperBound, ""))
      } else {
        guard let first = number(kind.names, in: kind.range) else { return nil }
        guard peek() == UInt8(ascii: "-") else {
          // A step needs a range or an asterisk.
          guard peek() != UInt8(ascii: "/") else { return nil }
          parts.append(first.text)
          guard peek() == UInt8(ascii: ",") else { break list }
          position += 1
          continue
        }
        position += 1
        guard let last = number(kind.names, in: kind.range) else { return nil }
        (low, high) = (first, last)
      }
      var step = 1
      if peek() == UInt8(ascii: "/") {
        position += 1
        guard let read = number([], in: nil), read.value > 0 else { return nil }
        step = read.value
      }
      let written = isAll ? "*" : "\(low.text)-\(high.text)"
      if low.value > high.value {
        isOdd = true
      } else if step > kind.largestStep {
        isOdd = true
        // Only the first number is left. A field of days or weekdays keeps its asterisk, which says how it joins with the other.
        parts.append(isAll && kind.range.upperBound < 32 && kind != .hour ? "*/\(kind.largestStep)" : "\(low.value)")
      } else {
        parts.append(step == 1 ? written : "\(written)/\(step)")
      }
      guard peek() == UInt8(ascii: ",") else { break list }
      position += 1
    }
    let complete = position
    while let byte = peek(), !Bytes.isBlank(byte) { position += 1 }
    isOdd = isOdd || position > complete
    var text = parts.joined(separator: ",")
    if !isStar, text.hasPrefix("*") { text = "\(kind.range.lowerBound)-\(kind.range.upperBound)" + text.dropFirst() }
    self.text = text
    let shown = Bytes.shown(line[begin..<position])
    surprise =
      isOdd ? "cron reads the \(kind.title) \"\(shown)\" as \(text.isEmpty ? "no time at all" : "\"\(text)\"")" : nil
    while let byte = peek(), Bytes.isBlank(byte) { position += 1 }
  }
}
