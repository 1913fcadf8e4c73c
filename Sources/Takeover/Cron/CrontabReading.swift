import CalendarTime

/// Makes findings of one crontab.
struct CrontabReading {
  let file: CronFile
  let machine: CronMachine
  let daylight: DaylightNote

  private static let mostLines = 10_000
  /// Bytes; cronie takes more.
  private static let longestCommand = 50_000

  /// The findings of all lines, in order.
  func findings(_ book: inout IdentifierBook) -> [LineFinding] {
    let (lines, endsWithLineEnd) = Bytes.lines(of: file.bytes)
    var entries = lines.map { CrontabEntry($0, hasUser: file.kind == .system, isCronie: machine.isCronie) }
    for (index, entry) in entries.enumerated() {
      if case .job(let job) = entry, let user = job.user, !machine.isUser(user) { entries[index] = .bad("bad username") }
    }
    let ignored = reasonToIgnore(entries, endsWithLineEnd: endsWithLineEnd)
    var settings = CrontabSettings()
    var jobs = 0
    return zip(lines, entries).enumerated().map { index, pair in
      let (line, entry) = pair
      func finding(_ result: LineFinding.Result, _ notes: [String] = []) -> LineFinding {
        LineFinding(file: file.path, line: index + 1, text: Bytes.shown(line), result, notes: notes)
      }
      switch entry {
      case .blank: return finding(.nothing("blank line"))
      case .comment: return finding(.nothing("comment"))
      case .bad(let message):
        return finding(.refused(refusal(message, of: line)))
      case .unreadable(let why): return finding(.refused(why))
      case .variable(let name, let value):
        let (result, notes) = settings.set(name, value, isCronie: machine.isCronie)
        return finding(result, notes)
      case .job(let job):
        if let ignored { return finding(ignored) }
        if machine.isCronie, !endsWithLineEnd, index == lines.count - 1 {
          return finding(.refused("cron ignores the last line of a file if it has no line end: add one"))
        }
        jobs += 1
        let (result, notes) = result(of: job, settings, isFirst: jobs == 1, &book)
        return finding(result, notes)
      }
    }
  }

  /// Cron's message about a line, and what is probably meant.
  private func refusal(_ message: String, of line: ArraySlice<UInt8>) -> String {
    let whole = machine.isCronie ? "cron refuses it" : "cron refuses it, and ignores the whole file"
    var hint = ""
    let shown = Bytes.shown(line)
    let content = line.drop(while: Bytes.isBlank)
    if line.allSatisfy(Bytes.isSpace) {
      hint = ": the line has a carriage return; write line ends without them"
    } else if let sign = content.lastIndex(of: UInt8(ascii: "=")), content[(sign + 1)...].allSatisfy(Bytes.isSpace) {
      hint = ": write an empty value as \(Bytes.shown(content[..<sign]))=\"\""
    } else if message == "bad username" {
      hint = file.kind == .system ? ": the word after the times is the user, and there is no such user" : ""
    } else if shown.split(whereSeparator: \.isWhitespace).prefix(5).contains(where: { $0.contains("/") && $0.first?.isNumber == true }) {
      hint = ": a step such as /5 needs * or a range before it, as in */5"
    }
    return "\(whole): \(message)\(hint)"
  }

  /// Why cron runs no line of the file; nil if it runs them.
  private func reasonToIgnore(_ entries: [CrontabEntry], endsWithLineEnd: Bool) -> LineFinding.Result? {
    if let flaw = file.flaw {
      return file.isFlawIntended ? .nothing("cron does not read this file: \(flaw)") : .refused("cron does not read this file: \(flaw)")
    }
    guard !machine.isCronie else { return nil }
    let bad = entries.firstIndex { if case .bad = $0 { true } else { false } }
    if let bad { return .refused("cron ignores this file because of line \(bad + 1): mend or remove that line first") }
    if !endsWithLineEnd { return .refused("cron ignores this file because its last line has no line end: add one") }
    if entries.count > Self.mostLines { return .refused("cron ignores a file of more than \(Self.mostLines) lines") }
    return nil
  }

  private func result(
    of job: CronJob, _ settings: CrontabSettings, isFirst: Bool, _ book: inout IdentifierBook
  ) -> (LineFinding.Result, notes: [String]) {
    var bytes = job.command
    var notes = job.fields.compactMap(\.surprise)
    if bytes.last == 0x0d {
      bytes.removeLast()
      notes.append("the line ends with a carriage return, which cron hands to the command: it is left out here")
    }
    let text = CronCommandText(bytes)
    guard text.command.utf8.contains(where: { !Bytes.isSpace($0) }) else { return (.refused("it has no command"), notes) }
    guard text.command.utf8.count <= Self.longestCommand else {
      return (.refused("it is longer than a command of a configuration can be: move it into a script"), notes)
    }
    guard job.name == .reboot || job.expression != nil else {
      return (.refused("cron never runs it: \(notes.joined(separator: "; "))"), [])
    }
    if let covered = covered(text.command) { return (.covered(covered), []) }
    let hints = CommandHints(text.command, isReboot: job.name == .reboot)
    if let obstacle = hints.obstacle { return (.refused(obstacle), notes) }
    notes += hints.notes

    var command = CarriedCommand("")
    var zone: String?
    if machine.isCronie, let name = settings.variables["CRON_TZ"] {
      guard machine.zoneNamed(name) != nil else {
        return (.refused("CRON_TZ names the time zone \"\(name)\", which this machine does not know"), [])
      }
      zone = name
    }
    if job.name == .reboot {
      command.schedule = "on host:booted"
      notes.append("cron runs it when cron starts after a boot, the host when it is launched for the first time after a boot")
    } else if let expression = job.expression {
      do {
        let read = try CronExpression(expression)
        let daylight = zone.flatMap(machine.zoneNamed).map { DaylightNote($0, after: machine.now) } ?? daylight
        notes += daylight.notes(read, isAtFixedTimes: job.isAtFixedTimes)
      } catch {
        return (.refused("cron never runs it: \(error.observed)"), [])
      }
      command.schedule = "cron \(expression)" + (zone.map { " \($0)" } ?? "")
      command.times = [CronTimes(expression: expression, zone: zone, isAtFixedTimes: job.isAtFixedTimes)]
      if !job.isSilent { command.logged = LoggedCommand(user: job.user ?? userOfFile ?? "", text: CronCommandText(job.command).command) }
    }
    let words = text.words(shell: settings.shell)
    if words[0] == "/bin/sh", words.count == 3 { command.shell = words[2] } else { command.run = words }
    guard settings.shell.hasPrefix("/") else {
      return (.refused("SHELL names \"\(settings.shell)\": name the shell by its whole path"), notes)
    }
    if text.input != nil { notes.append("what follows the % is its standard input: it stands in a here-document") }
    command.user = job.user ?? userOfFile
    command.environment = settings.environment(for: text.command)
    if let home = settings.variables["HOME"] {
      guard home.hasPrefix("/") else {
        return (.refused("HOME is \"\(home)\": cron starts commands in it, so it needs to be a whole path"), notes)
      }
      command.directory = home
    }
    if machine.isCronie, let delay = settings.variables["RANDOM_DELAY"].flatMap({ Int($0) }), (1...1440).contains(delay) {
      command.jitter = "\(delay)m"
    }
    command.mails = settings.mails
    command.identifier = identifier(for: text.command, isFirst: isFirst, &book)
    return (.command(command), notes)
  }

  private var userOfFile: String? {
    if case .user(let name) = file.kind { name } else { nil }
  }

  /// What already does the same; nil if nothing does.
  private func covered(_ command: String) -> String? {
    guard machine.hasAnacron else { return nil }
    if CommandHints.yieldsToAnacron(command) {
      return "it does nothing while anacron is installed: see /etc/anacrontab"
    }
    if command.contains("anacron start") || command.contains("anacron -s") {
      return "it starts anacron, whose jobs become commands of their own: see /etc/anacrontab"
    }
    return nil
  }

  private func identifier(for command: String, isFirst: Bool, _ book: inout IdentifierBook) -> String {
    if let folder = CommandHints.runParts(command), folder.hasPrefix("/etc/cron."), file.path == "/etc/crontab" {
      return book.next("cron", String(folder.dropFirst("/etc/cron.".count)))
    }
    let program = ProgramName.of(command)
    switch file.kind {
    case .user(let name): return book.next("cron", name ?? "", program)
    case .system where file.path.hasPrefix("/etc/cron.d/"):
      let name = String(file.path.dropFirst("/etc/cron.d/".count))
      return isFirst || program == name ? book.next("cron", name) : book.next("cron", name, program)
    default: return book.next("cron", program)
    }
  }
}
