import StrictText

/// Makes findings of one timer and of its service.
struct TimerReading {
  private let timer: UnitFiles
  private let machine: TimerMachine
  private let specifiers: UnitSpecifiers
  private var findings: [LineFinding] = []
  /// The places in ``findings`` of the lines that say when.
  private var triggers: [Int] = []
  private var times: [(key: String, value: String)] = []
  private var obstacles: [String] = []
  /// The times that cannot be carried over. The timer is switched off as a whole, or goes on as a whole.
  private var lostTimes: [String] = []
  private var service: String
  private var jitter: String?
  private var wakes = false
  private var leastInterval: Int?
  private var isPersistent = false
  private var calendar: [CronTimes] = []
  /// Milliseconds that systemd may be late: by its accuracy, and by its random delay.
  private var accuracy = 60_000
  private var delay = 0

  init(_ timer: UnitFiles, machine: TimerMachine) {
    self.timer = timer
    self.machine = machine
    specifiers = UnitSpecifiers(unit: timer.name)
    service = String(timer.name.dropLast(".timer".count)) + ".service"
  }

  /// The findings of all lines of the timer and of its service.
  mutating func all(_ book: inout IdentifierBook) -> [LineFinding] {
    for text in timer.texts {
      for entry in text.entries {
        let (result, notes) = read(entry)
        findings += ServiceReading.findings(of: entry, result, notes)
      }
    }
    guard let first = triggers.first else {
      return findings + [LineFinding(file: timer.path, line: 0, text: timer.name, .refused("no line says when it runs"))]
    }
    guard let unit = machine.services[service], !unit.isMasked else {
      findings[first].result = .refused("it starts \(service), which is not there")
      return findings
    }
    let reading = ServiceReading(unit, machine: machine)
    obstacles += reading.obstacles + lostTimes
    if let obstacle = obstacles.first {
      findings[first].result = .refused("\(service) cannot become a command: \(obstacle)")
      return findings + reading.findings
    }
    var command = reading.command
    command.identifier = book.next("timer", String(timer.name.dropLast(".timer".count)))
    command.timer = timer.name
    command.jitter = jitter
    command.wakes = wakes
    if let leastInterval, leastInterval < 900_000 {
      command.minimumInterval = DurationFormat.text(milliseconds: Int64(max(leastInterval, 1000)))
    }
    command.schedule = times.first.map { "\($0.key) \($0.value)" }
    command.more = times.dropFirst().enumerated().map { index, time in .init(name: "\(index + 2)", key: time.key, value: time.value) }
    if calendar.count == times.count {
      command.times = calendar
      command.logged = LoggedCommand(user: "systemd", text: service)
      command.tolerance = min((accuracy + delay) / 1000 + 1, 31_536_000)
    }
    findings[first].result = .command(command)
    if !isPersistent { findings[first].notes.append("systemd leaves out a time that it missed, the host runs it once afterwards") }
    return findings + reading.findings
  }

  private mutating func read(_ entry: UnitText.Entry) -> (LineFinding.Result, notes: [String]) {
    entry.result { section, key, value in
      guard section == "Timer" else {
        if section == "Unit", key.hasPrefix("Condition") || key.hasPrefix("Assert") || key == "Requires",
          value != "!/etc/initrd-release"
        {
          return (.refused("the host does not ask for it before it starts a schedule"), [])
        }
        return (.nothing("it has no effect on a command"), [])
      }
      let read: (result: LineFinding.Result, notes: [String])
      do throws(ExecLine.Problem) { read = timer(key, try specifiers.expand(value)) } catch { read = (.refused(error.text), []) }
      if key.hasPrefix("On"), case .refused(let why) = read.result { lostTimes.append(why) }
      return read
    }
  }

  private mutating func timer(_ key: String, _ value: String) -> (LineFinding.Result, notes: [String]) {
    if key.hasPrefix("On"), value.isEmpty {
      triggers = []
      times = []
      calendar = []
      lostTimes = []
      return (.setting("forgets the times before"), [])
    }
    switch key {
    case "OnCalendar":
      do throws(CalendarEvent.Problem) {
        let event = try CalendarEvent(value, isZone: machine.isZone)
        add("cron", event.expression + (event.zone.map { " \($0)" } ?? ""))
        calendar.append(CronTimes(expression: event.expression, zone: event.zone, isAtFixedTimes: true))
        return (.setting("when it runs: cron \(event.expression)"), event.notes)
      } catch {
        return (.refused("\(value) cannot be said by cron: \(error.text)"), [])
      }
    case "OnBootSec", "OnStartupSec", "OnActiveSec":
      guard let length = TimeSpan.milliseconds(value) else { return (.refused("\"\(value)\" is not a length of time"), []) }
      let after = length > 0 ? " after \(DurationFormat.text(milliseconds: Int64(length)))" : ""
      add("on", "host:booted\(after)")
      return (.setting("a run after each boot"), ["it counts from the host's first launch after the boot, not from the kernel's start"])
    case "OnUnitActiveSec", "OnUnitInactiveSec":
      guard let length = TimeSpan.milliseconds(value), length >= 1 else { return (.refused("\"\(value)\" is not a length of time"), []) }
      leastInterval = min(length, leastInterval ?? length)
      add("every", DurationFormat.text(milliseconds: Int64(length)))
      return (
        .setting("an interval"), ["systemd counts from the last \(key == "OnUnitActiveSec" ? "start" : "end"), the host in even steps"]
      )
    case "RandomizedDelaySec":
      guard let length = TimeSpan.milliseconds(value) else { return (.refused("\"\(value)\" is not a length of time"), []) }
      delay = min(length, 31_536_000_000)
      jitter = length > 0 ? DurationFormat.text(milliseconds: Int64(length)) : nil
      return (.setting("jitter"), [])
    case "AccuracySec":
      accuracy = min(TimeSpan.milliseconds(value) ?? accuracy, 31_536_000_000)
      return (.nothing("it has no effect on a command"), [])
    case "FixedRandomDelay": return (.setting("jitter, whose share is always fixed"), [])
    case "Persistent":
      isPersistent = ["yes", "true", "1", "on"].contains(value)
      return (.setting("runs that were missed: the host runs once for all of them"), [])
    case "WakeSystem":
      wakes = ["yes", "true", "1", "on"].contains(value)
      return (.setting("whether it wakes the machine"), wakes ? ["the host needs CAP_WAKE_ALARM"] : [])
    case "Unit":
      service = value
      return value.hasSuffix(".service") ? (.setting("what it starts"), []) : (.refused("it starts \(value), which is not a service"), [])
    case "OnClockChange", "OnTimezoneChange":
      return ["no", "false", "0"].contains(value)
        ? (.nothing("it has no effect on a command"), []) : (.refused("a schedule on host:clock-set follows the clock: add it by hand"), [])
    default:
      return (UnitKey.result(key, value) ?? .refused("\(key) has no counterpart in a command's table"), [])
    }
  }

  private mutating func add(_ key: String, _ value: String) {
    triggers.append(findings.count)
    times.append((key, value))
  }
}
