import TaskModel

/// Writes the commands as TOML that `taskhost.toml` takes.
public enum ConfigurationText {
  /// The whole text: a comment and a table for each command, windows, and whom to tell of failures.
  ///
  /// - Parameter source: What was taken over, for the first line.
  public static func whole(of findings: [LineFinding], source: String) -> String {
    var parts = ["# Made by `taskhost takeover \(source)`. Each table names the line that it was."]
    let carried = findings.compactMap { finding in finding.command.map { (finding, $0) } }
    for window in Set(carried.compactMap(\.1.window)).sorted(by: { $0.name < $1.name }) {
      parts.append("[windows.\(key(window.name))]\nfrom = \(string(window.from))\nto = \(string(window.to))")
    }
    for (finding, command) in carried {
      let notes = finding.notes.map { "# - \($0.escapingControlCharacters)\n" }.joined()
      parts.append("# \(finding.place): \(finding.text.escapingControlCharacters)\n\(notes)\(table(of: command))")
    }
    parts += notices(of: carried.map(\.1))
    return parts.joined(separator: "\n\n") + "\n"
  }

  /// The tables of one command, without a line end after them.
  public static func table(of command: CarriedCommand) -> String {
    let identifier = string(command.identifier)
    var lines = ["[command.\(identifier)]"]
    if let shell = command.shell { lines.append("shell = \(string(shell))") } else { lines.append("run = \(list(command.run))") }
    func add(_ key: String, _ text: String?) {
      if let text { lines.append("\(key) = \(string(text))") }
    }
    add("schedule", command.schedule)
    add("jitter", command.jitter)
    if command.wakes { lines.append("wake = true") }
    add("window", command.window?.name)
    if !command.requires.isEmpty { lines.append("requires = \(list(command.requires))") }
    add("user", command.user)
    add("directory", command.directory)
    if !command.environment.isEmpty { lines.append("environment = \(list(command.environment))") }
    add("budget", command.budget)
    add("grace", command.grace)
    add("minimum_interval", command.minimumInterval)
    // Cron and timers run a command once, however it ends.
    lines.append("retry = { attempts = 1 }")
    if !command.exitCodes.isEmpty {
      let codes = command.exitCodes.map { "\(key($0.code)) = \(string($0.result))" }.joined(separator: ", ")
      lines.append("exit_codes = { \(codes) }")
    }
    let limits =
      (command.memory.map { ["memory = \(string($0))"] } ?? []) + (command.descriptors.map { ["descriptors = \($0)"] } ?? [])
    if !limits.isEmpty { lines.append("limits = { \(limits.joined(separator: ", ")) }") }
    for times in command.more {
      lines.append("\n[schedule.\(string("\(command.identifier)/\(times.name)"))]\n\(times.key) = \(string(times.value))")
      if let jitter = command.jitter { lines.append("jitter = \(string(jitter))") }
      if command.wakes { lines.append("wake = true") }
      if !command.requires.isEmpty { lines.append("requires = \(list(command.requires))") }
    }
    return lines.joined(separator: "\n")
  }

  /// A table for each address, with the commands whose failures it hears of.
  private static func notices(of commands: [CarriedCommand]) -> [String] {
    let addresses = Set(commands.flatMap(\.mails)).sorted()
    return addresses.enumerated().map { index, address in
      let identifiers = commands.filter { $0.mails.contains(address) }.map(\.identifier)
      return """
        [[notify]]
        name = "takeover-mail-\(index + 1)"
        on = ["failed", "recovered"]
        mail = \(string(address))
        identifiers = \(list(identifiers))
        """
    }
  }

  private static func list(_ texts: [String]) -> String { "[\(texts.map(string).joined(separator: ", "))]" }

  private static func key(_ text: String) -> String {
    let isBare = !text.isEmpty && text.utf8.allSatisfy { $0 == 0x2d || $0 == 0x5f || Bytes.isAlphanumeric($0) }
    return isBare ? text : string(text)
  }

  /// A basic string of TOML.
  static func string(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22: quoted += "\\\""
      case 0x5c: quoted += "\\\\"
      case 0x0a: quoted += "\\n"
      case 0x0d: quoted += "\\r"
      case 0x09: quoted += "\\t"
      case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
