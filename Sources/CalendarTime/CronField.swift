/// One of the five fields of a cron expression.
struct CronField {
  let name: String
  let range: ClosedRange<Int>
  /// The names of the first numbers in `range`; empty if they have none.
  let names: [String]

  static let minute = CronField(name: "minute", range: 0...59, names: [])
  static let hour = CronField(name: "hour", range: 0...23, names: [])
  static let day = CronField(name: "day of the month", range: 1...31, names: [])
  static let month = CronField(
    name: "month", range: 1...12, names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
  static let weekday = CronField(name: "weekday", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

  /// Reads a field: bit n is set if the field contains the number n.
  func bits(_ field: String, in text: String) throws(CronSyntaxError) -> UInt64 {
    var bits: UInt64 = 0
    for part in field.split(separator: ",", omittingEmptySubsequences: false) { bits |= try self.part(String(part), text) }
    return bits
  }

  private func part(_ part: String, _ text: String) throws(CronSyntaxError) -> UInt64 {
    func fail(_ observed: String) -> CronSyntaxError { CronSyntaxError(text: text, observed: "\(name) \"\(part)\": \(observed)") }
    let halves = part.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard halves.count <= 2 else { throw fail("has two steps") }
    var step = 1
    if halves.count == 2 {
      guard let number = Self.number(halves[1]), (1...range.upperBound).contains(number) else {
        throw fail("the step must be a number from 1 to \(range.upperBound)")
      }
      step = number
    }
    let numbers: ClosedRange<Int>
    if halves[0] == "*" {
      // Sunday has two numbers; one is enough.
      numbers = name == Self.weekday.name ? 0...6 : range
    } else {
      let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard ends.count <= 2, let first = value(ends[0]), let last = ends.count == 2 ? value(ends[1]) : first else {
        throw fail("is none of *, a number from \(range.lowerBound) to \(range.upperBound)\(nameHint), a range a-b")
      }
      guard first <= last else { throw fail("the range ends before it begins; write it as two: \(ends[0])-\(range.upperBound),…") }
      numbers = first...(ends.count == 1 && halves.count == 2 ? range.upperBound : last)
    }
    return stride(from: numbers.lowerBound, through: numbers.upperBound, by: step).reduce(0) { $0 | 1 << UInt64($1) }
  }

  private var nameHint: String { names.isEmpty ? "" : " or \(names[0].uppercased())-\(names[names.count - 1].uppercased())" }

  private func value(_ text: String) -> Int? {
    if let index = names.firstIndex(of: text.lowercased()) { return range.lowerBound + index }
    return Self.number(text).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Reads one to four ASCII digits.
  private static func number(_ text: String) -> Int? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
