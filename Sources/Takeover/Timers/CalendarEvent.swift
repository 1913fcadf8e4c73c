/// A value of `OnCalendar=`, as far as five fields of cron can say it (systemd.time(7)).
struct CalendarEvent: Equatable {
  /// Five fields.
  let expression: String
  /// A time zone's name, if it names one.
  let zone: String?
  /// What is worth knowing about the translation.
  let notes: [String]

  /// Why a value has no cron expression.
  struct Problem: Error, Equatable {
    let text: String
  }

  private static let names = [
    "minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "monthly": "*-*-01 00:00:00",
    "weekly": "Mon *-*-* 00:00:00", "yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00", "semiannually": "*-01,07-01 00:00:00", "semi-annually": "*-01,07-01 00:00:00",
    "biannually": "*-01,07-01 00:00:00", "bi-annually": "*-01,07-01 00:00:00", "anually": "*-01-01 00:00:00",
  ]
  private static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  private static let longWeekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

  init(_ text: String, isZone: (String) -> Bool) throws(Problem) {
    var words = text.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw Problem(text: "it is empty") }
    var zone: String?
    if words.count > 1, let last = words.last, last == "UTC" || last.contains("/") && last.first?.isLetter == true {
      guard last == "UTC" || isZone(last) else { throw Problem(text: "there is no time zone \"\(last)\"") }
      zone = last
      words.removeLast()
    }
    if words.count == 1, let meaning = Self.names[words[0].lowercased()] { words = meaning.split(separator: " ").map(String.init) }
    var weekdays: Set<Int>?
    if let first = words.first, first.first?.isLetter == true {
      weekdays = try Self.weekdays(of: first)
      words.removeFirst()
    }
    var date = "*-*-*"
    if let first = words.first, !first.contains(":") {
      date = first
      words.removeFirst()
    }
    let time = words.first ?? "00:00:00"
    guard words.count <= 1 else { throw Problem(text: "\"\(words[1])\" is not understood") }
    let (months, days) = try Self.date(date)
    let (minutes, hours) = try Self.time(time)
    var notes: [String] = []
    var dayText = Self.field(days, 1...31)
    var weekdayText = weekdays.map { Self.field(Set($0), 0...6) } ?? "*"
    if dayText != "*", weekdayText != "*" {
      // Cron runs on either, unless a field begins with an asterisk.
      if days.contains(1) {
        dayText = Self.joined("*/31", days.subtracting([1]))
      } else if let weekdays, weekdays.contains(0) {
        weekdayText = Self.joined("*/7", weekdays.subtracting([0]))
      } else {
        throw Problem(text: "cron has no way to ask for a weekday and a day of the month at once here: let the command ask for one of them")
      }
      notes.append("a field that begins with * makes cron ask for the weekday and the day of the month at once")
    }
    expression = [Self.field(minutes, 0...59), Self.field(hours, 0...23), dayText, Self.field(months, 1...12), weekdayText].joined(
      separator: " ")
    self.zone = zone
    self.notes = notes
  }

  private static func date(_ text: String) throws(Problem) -> (months: Set<Int>, days: Set<Int>) {
    if text.hasPrefix("@") { throw Problem(text: "it is one moment, which has no schedule") }
    guard !text.contains("~") else { throw Problem(text: "it counts from the end of the month, which cron cannot do") }
    var parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count) else { throw Problem(text: "the date \"\(text)\" is not understood") }
    if parts.count == 3 {
      guard parts[0] == "*" else { throw Problem(text: "it names years, which cron does not know") }
      parts.removeFirst()
    }
    return (try numbers(parts[0], 1...12, "month"), try numbers(parts[1], 1...31, "day"))
  }

  private static func time(_ text: String) throws(Problem) -> (minutes: Set<Int>, hours: Set<Int>) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count) else { throw Problem(text: "the time \"\(text)\" is not understood") }
    if parts.count == 3, !["0", "00", "00.000000"].contains(parts[2]) {
      throw Problem(text: "its seconds are \"\(parts[2])\": cron has minutes alone")
    }
    return (try numbers(parts[1], 0...59, "minute"), try numbers(parts[0], 0...23, "hour"))
  }

  /// The numbers of a part such as `1..5/2,7` or `0/15`.
  private static func numbers(_ text: String, _ range: ClosedRange<Int>, _ title: String) throws(Problem) -> Set<Int> {
    var numbers: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let problem = Problem(text: "the \(title) \"\(part)\" is not understood")
      let halves = part.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      guard halves.count <= 2 else { throw problem }
      var step: Int?
      if halves.count == 2 {
        guard let number = number(halves[1]), number > 0 else { throw problem }
        step = number
      }
      let ends = halves[0].components(separatedBy: "..")
      guard ends.count <= 2 else { throw problem }
      var low = range.lowerBound
      var high = range.upperBound
      if halves[0] != "*" {
        guard let first = number(ends[0]), range.contains(first) else { throw problem }
        low = first
        if ends.count == 2 {
          guard let last = number(ends[1]), range.contains(last), first <= last else { throw problem }
          high = last
        } else if step == nil {
          high = first
        }
      }
      numbers.formUnion(stride(from: low, through: high, by: step ?? 1))
    }
    return numbers
  }

  private static func weekdays(of text: String) throws(Problem) -> Set<Int> {
    var days: Set<Int> = []
    for part in text.split(separator: ",") {
      let ends = part.contains("..") ? String(part).components(separatedBy: "..") : part.split(separator: "-").map(String.init)
      let numbers = ends.map { end in
        longWeekdays.firstIndex(of: end.lowercased()) ?? weekdays.firstIndex(of: end.lowercased())
      }
      guard (1...2).contains(numbers.count), let first = numbers[0], let last = numbers[numbers.count - 1] else {
        throw Problem(text: "the weekday \"\(part)\" is not understood")
      }
      // The week begins on Monday.
      var day = first
      while true {
        days.insert(day)
        if day == last { break }
        guard day != 0 else { throw Problem(text: "the weekdays \"\(part)\" end before they begin") }
        day = (day + 1) % 7
      }
    }
    return days
  }

  private static func number(_ text: String) -> Int? {
    (1...4).contains(text.utf8.count) && text.utf8.allSatisfy(Bytes.isDigit) ? Int(text) : nil
  }

  /// The shortest field for the numbers.
  private static func field(_ numbers: Set<Int>, _ range: ClosedRange<Int>) -> String {
    let sorted = numbers.sorted()
    guard sorted.count < range.count else { return "*" }
    // Of minutes and hours alone: a field of days that begins with * joins in another way.
    if range.lowerBound == 0, range.upperBound > 6, sorted.count > 1, sorted[0] == 0 {
      let step = sorted[1]
      if sorted == Array(stride(from: 0, through: range.upperBound, by: step)) { return "*/\(step)" }
    }
    return joined(nil, numbers)
  }

  /// The numbers as a list of ranges, after another part.
  private static func joined(_ first: String?, _ numbers: Set<Int>) -> String {
    var parts: [String] = first.map { [$0] } ?? []
    var run: ClosedRange<Int>?
    func close() {
      if let run { parts.append(run.count == 1 ? "\(run.lowerBound)" : "\(run.lowerBound)-\(run.upperBound)") }
    }
    for number in numbers.sorted() {
      if let current = run, number == current.upperBound + 1 {
        run = current.lowerBound...number
      } else {
        close()
        run = number...number
      }
    }
    close()
    return parts.joined(separator: ",")
  }
}

extension String {
  /// The parts between occurrences of a separator.
  fileprivate func components(separatedBy separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
