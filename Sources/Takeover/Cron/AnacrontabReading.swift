/// Makes findings of `/etc/anacrontab`.
struct AnacrontabReading {
  let file: CronFile
  let machine: CronMachine

  /// The findings of all lines. A line that is continued with `\` has one finding at its first line; the lines that continue it say so.
  func findings(_ book: inout IdentifierBook) -> [LineFinding] {
    let (lines, _) = Bytes.lines(of: file.bytes)
    var settings = CrontabSettings()
    var findings: [LineFinding] = []
    var index = 0
    while index < lines.count {
      let first = index
      var whole = Array(lines[index])
      while whole.last == UInt8(ascii: "\\"), index + 1 < lines.count {
        whole.removeLast()
        index += 1
        whole += lines[index]
      }
      let (result, notes) = result(of: whole, &settings, &book)
      findings.append(LineFinding(file: file.path, line: first + 1, text: Bytes.shown(lines[first]), result, notes: notes))
      for more in (first + 1)..<max(index + 1, first + 1) {
        findings.append(
          LineFinding(file: file.path, line: more + 1, text: Bytes.shown(lines[more]), .covered("it continues line \(first + 1)")))
      }
      index += 1
    }
    return findings
  }

  private func result(
    of line: [UInt8], _ settings: inout CrontabSettings, _ book: inout IdentifierBook
  ) -> (LineFinding.Result, notes: [String]) {
    let content = line.drop(while: Bytes.isSpace)
    guard let first = content.first else { return (.nothing("blank line"), []) }
    if first == UInt8(ascii: "#") { return (.nothing("comment"), []) }
    guard let text = Bytes.text(content) else {
      return (.refused("it has bytes that are not UTF-8 text, as a configuration has to be: move the command into a script"), [])
    }
    let words = text.split(maxSplits: 3, omittingEmptySubsequences: true) { $0 == " " || $0 == "\t" }.map(String.init)
    if let sign = text.firstIndex(of: "="), !Bytes.isDigit(first), first != UInt8(ascii: "@") {
      let name = text[..<sign].split { $0 == " " || $0 == "\t" }.joined()
      return variable(name, String(text[text.index(after: sign)...]), &settings)
    }
    guard machine.hasAnacron else { return (.nothing("anacron is not installed, so nothing reads this line"), []) }
    guard words.count == 4, let delay = Int(words[1]), delay >= 0, delay < 1_000_000, let schedule = Self.schedule(words[0]) else {
      return (.refused("anacron takes lines of the form PERIOD DELAY NAME COMMAND, with a period in days or @monthly"), [])
    }
    let command = words[3].split(omittingEmptySubsequences: false) { $0 == "\r" }.joined()
    let hints = CommandHints(command, isReboot: false)
    if let obstacle = hints.obstacle { return (.refused(obstacle), []) }
    var carried = CarriedCommand(book.next("anacron", words[2].hasPrefix("cron.") ? String(words[2].dropFirst(5)) : words[2]))
    carried.schedule = schedule
    if settings.shell == "/bin/sh" { carried.shell = command } else { carried.run = [settings.shell, "-c", command] }
    carried.user = "root"
    var named = settings
    named.remove(["START_HOURS_RANGE", "RANDOM_DELAY", "NO_MAIL_OUTPUT", "ANACRON_RUN_ON_BATTERY_POWER"])
    carried.environment = named.environment(for: command)
    carried.directory = "/"
    carried.mails = settings.mails
    var notes = hints.notes
    notes.append("anacron waits \(delay) min after its start, the host does not: a run begins when it is due")
    if schedule.hasPrefix("every") {
      notes.append(
        "its first run comes one period after the host has read it: taskhost simulate launch \(carried.identifier) runs it at once")
    }
    notes.append("Debian starts anacron only on external power: requires = [\"power\"] does the same")
    if let minutes = settings.variables["RANDOM_DELAY"].flatMap({ Int($0) }), (1...1440).contains(minutes) {
      carried.jitter = "\(minutes)m"
    }
    if let range = settings.variables["START_HOURS_RANGE"] {
      let hours = range.split(separator: "-").compactMap { Int($0) }
      guard hours.count == 2, (0...23).contains(hours[0]), (0...24).contains(hours[1]) else {
        return (.refused("START_HOURS_RANGE is \"\(range)\": expected two hours, such as 3-22"), [])
      }
      func clock(_ hour: Int) -> String { (hour < 10 ? "0" : "") + "\(hour):00" }
      carried.window = .init(name: "anacron-\(hours[0])-\(hours[1])", from: clock(hours[0]), to: clock(hours[1] % 24))
    }
    return (.command(carried), notes)
  }

  private func variable(_ name: String, _ value: String, _ settings: inout CrontabSettings) -> (LineFinding.Result, notes: [String]) {
    switch name {
    case "START_HOURS_RANGE", "RANDOM_DELAY":
      _ = settings.set(name, value.split { $0 == " " || $0 == "\t" || $0 == "\r" }.joined(), isCronie: true)
      return (.setting(name == "RANDOM_DELAY" ? "the jitter of the lines below" : "the window of the lines below"), [])
    case "NO_MAIL_OUTPUT", "ANACRON_RUN_ON_BATTERY_POWER":
      return (.setting("anacron itself, which no longer runs the lines below"), [])
    default: return settings.set(name, value, isCronie: true)
    }
  }

  /// The schedule of a period; nil if anacron does not take it.
  private static func schedule(_ period: String) -> String? {
    switch period {
    case "@daily": return "every 1d"
    case "@weekly": return "every 7d"
    case "@monthly", "@yearly", "@annually": return "cron \(period)"
    default:
      guard let days = Int(period), (1...3650).contains(days) else { return nil }
      return "every \(days)d"
    }
  }
}
