import StrictText

/// Makes findings of a service that a timer starts, and its command.
struct ServiceReading {
  /// A finding for each line.
  private(set) var findings: [LineFinding] = []
  /// Why it cannot become a command.
  private(set) var obstacles: [String] = []
  /// The command, with neither identifier nor schedule.
  private(set) var command = CarriedCommand("")

  private let machine: TimerMachine
  private let specifiers: UnitSpecifiers
  private var tests: [String] = []
  private var files: [(path: String, isOptional: Bool)] = []
  private var conditions: [ExecLine] = []
  private var before: [ExecLine] = []
  private var start: [ExecLine] = []
  private var after: [ExecLine] = []
  private var environment: [String: String] = [:]
  private var passed: [String] = []
  private var priority: [String] = []
  private var mask: String?
  private var account: UserAccount?

  init(_ unit: UnitFiles, machine: TimerMachine) {
    self.machine = machine
    specifiers = UnitSpecifiers(unit: unit.name)
    command.user = "root"
    command.directory = "/"
    command.grace = "90s"
    // Other lines depend on the user, and may stand before it.
    for case .assignment("Service", "User", let value) in unit.texts.flatMap(\.entries).map(\.content) {
      let user = (try? specifiers.expand(value)) ?? value
      account = machine.account(user)
      command.user = user.isEmpty || user == "0" ? "root" : account?.name ?? user
    }
    for text in unit.texts {
      for entry in text.entries {
        let (result, notes) = read(entry)
        if case .refused(let why) = result, isObstacle(entry) { obstacles.append("\(entry.file):\(entry.lines.lowerBound): \(why)") }
        findings += Self.findings(of: entry, result, notes)
      }
    }
    if start.isEmpty, obstacles.isEmpty { obstacles.append("\(unit.path): it has no ExecStart") }
    guard obstacles.isEmpty else { return }
    do throws(ExecLine.Problem) { try compose() } catch { obstacles.append("\(unit.path): \(error.text)") }
  }

  /// The finding of an entry, and one for each line that continues it.
  static func findings(of entry: UnitText.Entry, _ result: LineFinding.Result, _ notes: [String]) -> [LineFinding] {
    let first = LineFinding(file: entry.file, line: entry.lines.lowerBound, text: entry.text, result, notes: notes)
    return [first]
      + entry.lines.dropFirst().map {
        LineFinding(file: entry.file, line: $0, text: "", .covered("it continues line \(entry.lines.lowerBound)"))
      }
  }

  /// Whether the command would do something else without the line.
  private func isObstacle(_ entry: UnitText.Entry) -> Bool {
    guard case .assignment(_, let key, _) = entry.content else { return false }
    return key.hasPrefix("Exec") || UnitKey.obstacles[key] != nil
      || ["Type", "User", "WorkingDirectory", "Environment", "EnvironmentFile", "PassEnvironment"].contains(key)
  }

  private mutating func read(_ entry: UnitText.Entry) -> (LineFinding.Result, notes: [String]) {
    entry.result { section, key, value in
      if section.hasPrefix("X-") || section == "Install" { return (.nothing("it has no effect on a command"), []) }
      // The words of a command are made first, and specifiers replaced in each.
      do throws(ExecLine.Problem) { return try read(section, key, key.hasPrefix("Exec") ? value : try specifiers.expand(value)) } catch {
        return (.refused(error.text), [])
      }
    }
  }

  private mutating func read(_ section: String, _ key: String, _ value: String) throws(ExecLine.Problem) -> (
    LineFinding.Result, notes: [String]
  ) {
    if let obstacle = UnitKey.obstacles[key], !["no", "false", "0", ""].contains(value) { return (.refused(obstacle), []) }
    if section == "Unit" { return try unit(key, value) }
    switch key {
    case "Type":
      if ["oneshot", "simple", "exec", ""].contains(value) { return (.setting("it ends by itself"), []) }
      return (.refused("Type=\(value) is a service that stays, and a command ends"), [])
    case "ExecStart": return try add(value, to: \.start, "its program")
    case "ExecStartPre": return try add(value, to: \.before, "what runs before it")
    case "ExecStartPost": return try add(value, to: \.after, "what runs after it")
    case "ExecCondition": return try add(value, to: \.conditions, "a condition of each run")
    case "ExecReload": return (.nothing("it has no effect on a command"), [])
    case "User":
      if value.isEmpty || value == "0" { return (.setting("its user"), []) }
      guard let account = machine.account(value) else {
        let isNumber = UserAccount.isNumber(value)
        return (.refused(isNumber ? "no user has the number \(value), and a command needs its name" : "there is no user \"\(value)\""), [])
      }
      return (.setting("its user"), account.name == value ? [] : ["\(value) is the number of \(account.name): the command has the name"])
    case "Group":
      let isOwn = value == command.user || UserAccount.isNumber(value) && UInt32(value) == account?.group
      return isOwn || value.isEmpty
        ? (.setting("the group of its user"), [])
        : (.refused("it would have the groups of its user: make \"\(value)\" the user's group, or start it by sg \(value) -c"), [])
    case "WorkingDirectory":
      let path = value.hasPrefix("-") ? String(value.dropFirst()) : value
      guard path == "~" || path.hasPrefix("/") else { return (.refused("the folder is not a whole path"), []) }
      command.directory = path == "~" ? nil : path
      return (.setting("its directory"), value.hasPrefix("-") ? ["a missing directory fails the run: the - is lost"] : [])
    case "Environment":
      if value.isEmpty { environment = [:] }
      for word in try ExecLine.words(value) {
        guard let sign = word.firstIndex(of: "="), Self.isName(word[..<sign]) else {
          return (.refused("\"\(word)\" is not NAME=VALUE"), [])
        }
        guard !word.hasPrefix("TASKHOST_") else { return (.refused("variables that begin with TASKHOST_ are the host's"), []) }
        environment[String(word[..<sign])] = String(word[word.index(after: sign)...])
      }
      return (.setting("its environment"), [])
    case "PassEnvironment":
      let names = value.split(separator: " ").map(String.init)
      guard names.allSatisfy({ Self.isName($0[...]) }) else { return (.refused("it does not name variables"), []) }
      passed = value.isEmpty ? [] : passed + names
      return (.setting("variables that it gets from the host"), [])
    case "EnvironmentFile": return environmentFile(value)
    case "Nice":
      guard let number = Int(value), (-20...19).contains(number) else { return (.refused("it is not a number from -20 to 19"), []) }
      priority = ["/usr/bin/nice", "-n", "\(number)"] + priority
      return (.setting("its priority, by nice"), [])
    case "IOSchedulingClass":
      guard let number = ["none": 0, "realtime": 1, "best-effort": 2, "idle": 3, "0": 0, "1": 1, "2": 2, "3": 3][value] else {
        return (.refused("it is not a class of I/O"), [])
      }
      priority += ["/usr/bin/ionice", "-c", "\(number)"]
      return (.setting("its priority for disks, by ionice"), [])
    case "UMask":
      guard (1...4).contains(value.utf8.count), Int(value, radix: 8) != nil else { return (.refused("it is not a mask"), []) }
      mask = value
      return (.setting("its umask"), [])
    case "TimeoutStartSec", "RuntimeMaxSec": return budget(value)
    case "TimeoutStopSec":
      guard value != "infinity", let length = TimeSpan.milliseconds(value), (1...3_600_000).contains(length) else {
        command.grace = "1h"
        return (.setting("the grace at its end, one hour at most"), [])
      }
      command.grace = DurationFormat.text(milliseconds: Int64(length))
      return (.setting("the grace at its end"), [])
    case "LimitNOFILE":
      guard let number = value.split(separator: ":").first.flatMap({ Int($0) }), (16...1_048_576).contains(number) else {
        return (.refused("limits.descriptors takes numbers from 16 to 1048576"), [])
      }
      command.descriptors = number
      return (.setting("how many descriptors it may have"), [])
    case "SuccessExitStatus":
      let codes = value.split(separator: " ").map { UnitKey.exitCodes[String($0)] ?? Int($0) ?? -1 }
      guard codes.allSatisfy((0...255).contains) else { return (.refused("exit_codes takes no signals"), []) }
      command.exitCodes = Set(codes).sorted().map { (code: "\($0)", result: "success") }
      return (.setting("codes that are a success"), [])
    case "StandardOutput", "StandardError":
      let isLog = ["journal", "syslog", "inherit", "null", "kmsg", "journal+console", "syslog+console", "tty"].contains(value)
      return isLog
        ? (.setting("the run's log has what it prints"), [])
        : (.refused("what it prints goes to the run's log: redirect it by a shell"), [])
    case "Restart" where value == "no", "RemainAfterExit" where ["no", "false", "0"].contains(value):
      return (.nothing("it has no effect on a command"), [])
    case "Restart", "RestartSec": return (.refused("retry in the command's table says how often it is tried again"), [])
    case "RemainAfterExit": return (.refused("a command that has ended runs again at its next time"), [])
    default:
      return (UnitKey.result(key, value) ?? .refused("\(key) has no counterpart in a command's table"), [])
    }
  }

  private mutating func unit(_ key: String, _ value: String) throws(ExecLine.Problem) -> (LineFinding.Result, notes: [String]) {
    switch key {
    case "Wants", "Requires", "After", "BindsTo", "Requisite":
      let units = value.split(separator: " ")
      if units.contains("network-online.target"), key != "After" { command.requires = Array(Set(command.requires + ["network"])).sorted() }
      let others = units.filter { !$0.hasSuffix(".target") && !$0.hasSuffix(".slice") && !$0.hasSuffix(".mount") }
      if key == "After" || others.isEmpty {
        return (.setting(command.requires.contains("network") && key != "After" ? "the condition network" : "an order at boot"), [])
      }
      return (.refused("systemd starts \(others.joined(separator: ", ")) first, the host does not: make sure that it runs"), [])
    case "Conflicts" where value.split(separator: " ").allSatisfy({ $0.hasSuffix(".target") }):
      return (.setting("an order at shutdown"), [])
    case "ConditionPathExists" where value == "!/etc/initrd-release": return (.nothing("it has no effect on a command"), [])
    case "OnFailure", "OnSuccess": return (.refused("a [[notify]] on failed tells of it, by a command, a mail or a URL"), [])
    case "ConditionACPower":
      guard ["true", "yes", "1"].contains(value) else { return (.refused("the host knows the condition power, and not its opposite"), []) }
      command.requires = Array(Set(command.requires + ["power"])).sorted()
      return (.setting("the condition power"), ["systemd leaves a run out without power, the host waits for it"])
    case _ where key.hasPrefix("Condition") || key.hasPrefix("Assert"):
      guard !value.isEmpty else {
        tests = []
        return (.setting("forgets the conditions before"), [])
      }
      guard let test = Self.test(key, value) else { return (.refused("the host does not ask for \(key): ask in the command itself"), []) }
      tests.append("\(test) || exit \(key.hasPrefix("Assert") ? 1 : 0)")
      return (.setting("a test before each run"), [])
    default:
      return (UnitKey.result(key, value) ?? .refused("\(key) has no counterpart in a command's table"), [])
    }
  }

  /// A condition about a path, as a test of a shell.
  private static func test(_ key: String, _ value: String) -> String? {
    let isNegated = value.hasPrefix("!")
    let path = isNegated ? String(value.dropFirst()) : value
    guard path.hasPrefix("/") else { return nil }
    let quoted = CronCommandText.quoted(path)
    let name = key.drop { $0 != "P" && $0 != "F" && $0 != "D" }
    let test: String
    switch name {
    case "PathExists": test = "[ -e \(quoted) ]"
    case "PathIsDirectory": test = "[ -d \(quoted) ]"
    case "PathIsSymbolicLink": test = "[ -L \(quoted) ]"
    case "PathIsReadWrite": test = "[ -w \(quoted) ]"
    case "PathIsMountPoint": test = "mountpoint -q \(quoted)"
    case "FileNotEmpty": test = "[ -f \(quoted) -a -s \(quoted) ]"
    case "FileIsExecutable": test = "[ -f \(quoted) -a -x \(quoted) ]"
    case "DirectoryNotEmpty": test = "[ -n \"$(ls -A \(quoted) 2>/dev/null)\" ]"
    default: return nil
    }
    return isNegated ? "! \(test)" : test
  }

  private mutating func add(
    _ value: String, to list: WritableKeyPath<Self, [ExecLine]>, _ what: String
  ) throws(ExecLine.Problem) -> (LineFinding.Result, notes: [String]) {
    guard !value.isEmpty else {
      self[keyPath: list] = []
      return (.setting("forgets the commands before"), [])
    }
    let line = try ExecLine(value, specifiers: specifiers)
    if line.isPrivileged, command.user != "root" {
      throw ExecLine.Problem(text: "it runs as root, and the rest as \(command.user ?? ""): a command has one user")
    }
    self[keyPath: list].append(line)
    return (.setting(what), [])
  }

  private mutating func environmentFile(_ value: String) -> (LineFinding.Result, notes: [String]) {
    guard !value.isEmpty else {
      files = []
      return (.setting("forgets the files before"), [])
    }
    let isOptional = value.hasPrefix("-")
    let path = isOptional ? String(value.dropFirst()) : value
    guard path.hasPrefix("/"), !path.contains("*") else { return (.refused("it is not the path of one file"), []) }
    if let bytes = machine.environmentFile(path) {
      if let line = Self.oddLine(bytes) {
        return (.refused("line \(line) of \(path) means something else to a shell: quote its value with '…', without $ and `"), [])
      }
    } else if !isOptional {
      return (.refused("\(path) cannot be read, so nobody knows whether a shell can read it"), [])
    }
    files.append((path, isOptional))
    return (.setting("variables of a file, which a shell reads before each run"), [])
  }

  /// The number of the first line of a file of variables that a shell would read in another way than systemd; nil if there is none.
  private static func oddLine(_ bytes: [UInt8]) -> Int? {
    for (index, line) in Bytes.lines(of: bytes).lines.enumerated() {
      let text = UnitText.trimmed(line)
      guard let first = text.first, first != UInt8(ascii: "#") else { continue }
      guard first != UInt8(ascii: ";"), let sign = text.firstIndex(of: UInt8(ascii: "=")), isName(Bytes.shown(text[..<sign])[...]) else {
        return index + 1
      }
      var value = text[(sign + 1)...]
      let special = Set("$`\\\"'".utf8)
      if let quote = value.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\""), value.count > 1, value.last == quote {
        value = value.dropFirst().dropLast()
      } else if value.contains(where: { !(Bytes.isAlphanumeric($0) || "_-./:,@%+=".utf8.contains($0)) }) {
        return index + 1
      }
      if value.contains(where: special.contains) { return index + 1 }
    }
    return nil
  }

  private mutating func budget(_ value: String) -> (LineFinding.Result, notes: [String]) {
    guard value != "infinity", value != "0", let length = TimeSpan.milliseconds(value), length > 0 else {
      return (.setting("no limit of its time: 30 d"), [])
    }
    command.budget = DurationFormat.text(milliseconds: Int64(min(length, 30 * 86_400_000)))
    return (.setting("how long a run may take"), [])
  }

  static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !Bytes.isDigit(first) else { return false }
    return text.utf8.allSatisfy { Bytes.isAlphanumeric($0) || $0 == 0x5f }
  }

  /// Puts everything into one command: the program itself where that suffices, or else lines for a shell.
  private mutating func compose() throws(ExecLine.Problem) {
    command.environment = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } + passed
    let isPlain = tests.isEmpty && files.isEmpty && mask == nil && conditions.isEmpty && before.isEmpty && after.isEmpty
    if isPlain, start.count == 1, !start[0].expands {
      command.run = priority + start[0].words
      if start[0].ignoresFailure { command.exitCodes = [(code: "other", result: "success")] }
      return
    }
    var lines = tests
    for file in files {
      let path = CronCommandText.quoted(file.path)
      lines.append(file.isOptional ? "if [ -r \(path) ]; then set -a; . \(path); set +a; fi" : "set -a; . \(path) || exit 1; set +a")
    }
    if let mask { lines.append("umask \(mask)") }
    let prefix = priority.map { "\($0) " }.joined()
    func line(_ exec: ExecLine, onFailure: String = "exit $?") throws(ExecLine.Problem) -> String {
      "\(prefix)\(try exec.shellText())\(exec.ignoresFailure ? " || :" : " || \(onFailure)")"
    }
    for exec in conditions { lines.append(try line(exec, onFailure: "exit 0")) }
    for exec in before + start.dropLast() { lines.append(try line(exec)) }
    if let last = start.last {
      let isLast = after.isEmpty && !last.ignoresFailure
      lines.append(isLast ? "exec \(prefix)\(try last.shellText())" : try line(last))
    }
    for exec in after { lines.append(try line(exec)) }
    command.shell = lines.joined(separator: "\n")
  }
}
