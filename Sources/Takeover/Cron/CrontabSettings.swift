import StrictText

/// The variables of a crontab that count for a line, and what they mean.
struct CrontabSettings {
  /// In the order of their names.
  private(set) var variables: [String: String] = [:]

  /// What cron sets where a crontab says nothing.
  static let defaultPath = "/usr/bin:/bin"

  /// Variables that cron itself reads, and that a command need not have.
  private static let ofMail: Set<String> = ["MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING"]

  /// Sets a variable. Returns what becomes of the line.
  mutating func set(_ name: String, _ value: String, isCronie: Bool) -> (LineFinding.Result, notes: [String]) {
    guard Self.isName(name) else {
      return (.refused("\"\(name)\" is not the name of a variable that a configuration takes (A-Z a-z 0-9 _, the first no digit)"), [])
    }
    guard !name.hasPrefix("TASKHOST_") else { return (.refused("variables that begin with TASKHOST_ are the host's: rename it"), []) }
    guard value.utf8.count < 990 else { return (.refused("cron cuts a variable of more than 998 bytes: set it in a script"), []) }
    if name == "LOGNAME" {
      return (.nothing("LOGNAME is always the name of the user: the line has no effect"), [])
    }
    variables[name] = value
    var notes: [String] = []
    if value.contains("$"), name != "MAILTO" {
      notes.append("cron does not expand $ in a variable, and neither does the host: the value stays as it is")
    }
    switch name {
    case "MAILTO" where value.isEmpty: return (.setting("no mails for the lines below"), [])
    case "MAILTO":
      let flawed = Self.addresses(value).filter { !HeaderText.isMailAddress($0) }
      if !flawed.isEmpty {
        notes.append(
          "\(flawed.joined(separator: ", ")) is a local name: add a [[notify]] with the mail address that it stands for, to hear of failures"
        )
      }
      if flawed.count < Self.addresses(value).count { notes.append("cron mails all that a command prints, the host mails when it fails") }
      return (.setting("whom to tell of failures of the lines below"), notes)
    case "MAILFROM": return (.setting("the sender of mails"), ["mail_from of [[notify]] names the sender: add it there"])
    case "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING": return (.setting("the format of cron's mails, which the host does not send"), [])
    case "CRON_TZ" where !isCronie:
      notes.append(
        "Debian's cron does not read times in CRON_TZ, but hands it to the commands: the times stay the machine's (see --cronie)")
    case "CRON_TZ": return (.setting("the time zone of the lines below"), notes)
    case "RANDOM_DELAY" where isCronie: return (.setting("the jitter of the lines below"), notes)
    case "TZ": notes.append("it is the zone of the commands alone: cron does not read the times in it, and neither does the host")
    default: break
    }
    return (.setting("a variable of the lines below"), notes)
  }

  /// Forgets variables that only anacron itself reads.
  mutating func remove(_ names: [String]) {
    for name in names { variables[name] = nil }
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !Bytes.isDigit(first) else { return false }
    return name.utf8.allSatisfy { Bytes.isAlphanumeric($0) || $0 == 0x5f }
  }

  var shell: String { variables["SHELL"].flatMap { $0.isEmpty ? nil : $0 } ?? "/bin/sh" }

  /// The addresses that hear of failures.
  var mails: [String] { variables["MAILTO"].map(Self.addresses)?.filter(HeaderText.isMailAddress) ?? [] }

  /// `environment` of the command.
  ///
  /// - Parameter text: The command, which may mention a variable of cron's mails.
  func environment(for text: String) -> [String] {
    var all = variables.filter { !Self.ofMail.contains($0.key) || text.contains("$\($0.key)") }
    all["PATH"] = all["PATH"] ?? Self.defaultPath
    return all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  private static func addresses(_ value: String) -> [String] { value.split { " ,\t".contains($0) }.map(String.init) }
}
