import Glibc
import StrictText
import TaskModel

// The keys of `[command."ID"]`: its own, and those of a plugin that fit a command.

extension CommandConfiguration {
  /// Keys of a plugin that a command has in another form, or not at all.
  private static let otherwise: Set<String> = [
    "file", "isolation", "environment", "settings", "may_submit", "may_notify", "may_transfer", "may_wake",
  ]

  static var fields: [TOMLField<Self>] {
    [
      TOMLField("run", \.run, .words, about: "The program and its arguments. Required, if there is no \"shell\"."),
      TOMLField("shell", optional: \.shell, .line, about: "The line for /bin/sh -c, instead of \"run\"."),
      TOMLField("directory", optional: \.directory, .path, about: "Where it starts. By default, the home directory of its user."),
      TOMLField("environment", \.environment, .list(.variable), about: "Variables of the host by their names, and variables with values."),
      TOMLField("user", optional: \.user, .line, about: "The user it runs as, if the host runs as root. By default, the host's."),
      TOMLField(
        "exit_codes", \.exitCodes, .exitCodes, about: "Results by exit code. By default, 0 is success, 75 retry, everything else failure."),
      TOMLField(
        "stdout", \.standardOutput, .choice(), about: "What its standard output becomes: lines of the \"log\", or the run's \"output\"."),
      TOMLField("persistent", \.isPersistent, .bool, about: "Whether one process serves many runs, by lines of JSON."),
      TOMLField("idle_time", \.idleTime, .duration(.zero ... .days(1)), about: "How long its process is kept without a run."),
    ]
      + PluginConfiguration.fields.filter { !otherwise.contains($0.name) }.map { $0.part(\.plugin) }
  }

  /// The table `command`: a table for each identifier.
  static func readAll(_ value: ConfigurationValue, at path: ConfigurationPath, _ reader: TOMLReader) -> [String: CommandConfiguration] {
    reader.identifiedTables(value, at: path, fields) { CommandConfiguration() }
  }
}

extension HostConfiguration {
  /// What it takes to kill a process group and to report its end, on a busy machine.
  private static let leastGrace = Duration.milliseconds(100)

  /// Why a command cannot run as that user; nil if it can.
  private static func problem(withUser name: String) -> String? {
    var (entry, found): (passwd, UnsafeMutablePointer<passwd>?) = (passwd(), nil)
    let user = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { buffer -> uid_t? in
      _ = buffer.baseAddress.map { getpwnam_r(name, &entry, $0, buffer.count, &found) }
      return found?.pointee.pw_uid
    }
    guard let user else { return "there is no user \"\(name)\"" }
    guard geteuid() == 0 || user == geteuid() else {
      return "only a host that runs as root can run a command as \"\(name)\": run the host as root, or as that user and without this key"
    }
    return nil
  }

  /// Adds the plugins that run the commands, and reports what a command's table contradicts.
  mutating func addCommands(_ reader: TOMLReader) {
    for (identifier, command) in commands.sorted(by: { $0.key < $1.key }) {
      func has(_ key: String) -> Bool { reader.has("command", identifier, key) }
      func report(_ keys: String..., message: String) { reader.report(["command", identifier] + keys, message) }

      if plugins[identifier] != nil {
        report(message: "there is a [plugin.\"\(identifier)\"] too: one identifier has one handler")
        continue
      }
      switch (has("run"), has("shell")) {
      case (false, false):
        report(message: "there is no \"run\": name the program and its arguments, or a \"shell\" line")
      case (true, true): report("shell", message: "there is a \"run\" too: keep one of the two")
      default: break
      }
      let isSandboxed = has("entitlements")
      if requireSandbox, !isSandboxed {
        report(message: "require_sandbox is true, and a command without entitlements has no sandbox: add entitlements")
      }
      if isSandboxed, has("user") { report("user", message: "a command with entitlements runs as the host's user, in a sandbox") }
      if reader.has("command", identifier, "entitlements", "exec"), !command.plugin.entitlements.exec {
        report("entitlements", "exec", message: "a command is a program: it may always start programs")
      }
      if !isSandboxed, reader.has("command", identifier, "limits", "processes") {
        report("limits", "processes", message: "processes needs entitlements: without a sandbox, Linux counts all processes of the user")
      }
      if !isSandboxed, reader.has("command", identifier, "limits", "cpu") {
        report("limits", "cpu", message: "cpu needs entitlements: without a sandbox, a command shares the host's control group")
      }
      if let grace = command.plugin.grace, grace < Self.leastGrace {
        report(
          "grace", message: "a command needs a grace of at least \(DurationText.format(Self.leastGrace)), in which its processes are ended")
      }
      if let problem = command.user.flatMap(Self.problem(withUser:)) { report("user", message: problem) }
      if command.isPersistent, has("stdout") {
        report("stdout", message: "the standard output of a persistent command is its protocol")
      }
      if command.isPersistent, has("exit_codes") {
        report("exit_codes", message: "a persistent command says its results by lines, not by its exit code")
      }
      if !command.isPersistent, has("idle_time") {
        report("idle_time", message: "idle_time needs persistent = true: without it, the process ends with the run")
      }
      var sandboxed = command
      // A sandboxed command starts other programs if it can at all.
      sandboxed.plugin.entitlements.exec = true
      plugins[identifier] = (isSandboxed ? sandboxed : command).plugin(
        of: identifier, socket: control.socket, isSandboxed: isSandboxed)
    }
  }
}

extension TOMLConverter<[String]> {
  /// A program and its arguments. A relative path of the program is relative to the file.
  static var words: Self {
    let list = Self.list(.string)
    return Self("list, each: string", text: list.text) { value, path, reader in
      guard var words = list.convert(value, path, reader) else { return nil }
      guard let program = words.first, !program.isEmpty else {
        reader.report(path, "\(path): names no program")
        return nil
      }
      if let place = words.firstIndex(where: { $0.utf8.count > 100_000 }) {
        reader.report(path.appending(place), "\(path): an argument is longer than 100,000 bytes")
        return nil
      }
      if program.contains("/") { words[0] = ConfigurationFile.resolve(program, in: reader.directory) }
      return words
    }
  }
}

extension TOMLConverter<String> {
  static var line: Self {
    .text("a string") { text, _ throws(TextProblem) in
      guard (1...100_000).contains(text.utf8.count) else { throw TextProblem("expected 1 to 100,000 bytes, found \(text.utf8.count)") }
      return text
    }
  }

  /// The name of a variable, or `NAME=VALUE`.
  fileprivate static var variable: Self {
    let name = TOMLConverter.variableName
    return .init(
      "name of a variable, or NAME=VALUE", text: TOMLText.quoted, isSecret: { $0.contains("=") }
    ) { value, path, reader in
      guard case .string(let text) = value, let sign = text.firstIndex(of: "=") else { return name.convert(value, path, reader) }
      guard !text.hasPrefix("TASKHOST_") else {
        reader.report(path, "\(path): variables that begin with TASKHOST_ are the host's")
        return nil
      }
      return name.convert(.string(String(text[..<sign])), path, reader).map { $0 + text[sign...] }
    }
  }
}

extension TOMLConverter<[String: CommandConfiguration.ExitResult]> {
  fileprivate static var exitCodes: Self {
    let result = TOMLConverter<CommandConfiguration.ExitResult>.choice()
    return Self(
      "table of \(result.type), by exit code or \"other\"",
      text: { TOMLText.table($0.map { (key: $0.key, value: result.text($0.value)) }) }
    ) { value, path, reader in
      guard let table = reader.table(value, at: path) else { return nil }
      var results: [String: CommandConfiguration.ExitResult] = [:]
      for (code, value) in table.sorted(by: { $0.key < $1.key }) {
        let place = path.appending(code)
        let isCode = Int(code).map { (0...255).contains($0) && String($0) == code } ?? (code == "other")
        guard isCode else {
          reader.report(place, "\(place): expected an exit code from 0 to 255, or \"other\", found \"\(code)\"")
          continue
        }
        results[code] = result.convert(value, place, reader)
      }
      return results
    }
  }
}
