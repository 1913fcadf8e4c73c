/// What a line of a crontab is, as Debian's cron reads it.
enum CrontabEntry: Equatable {
  case blank
  case comment
  case variable(name: String, value: String)
  case job(CronJob)
  /// A line that cron refuses, with cron's own message. Debian's cron then ignores the whole file.
  case bad(String)
  /// A line that cron takes, and that a configuration cannot hold.
  case unreadable(String)

  /// The most bytes of a command, without its line end.
  static let longestCommand = 998

  /// - Parameters:
  ///   - hasUser: Whether a user stands between the times and the command, as in `/etc/crontab`.
  ///   - isCronie: Whether cronie reads it, the cron of Fedora and Arch.
  init(_ line: ArraySlice<UInt8>, hasUser: Bool, isCronie: Bool = false) {
    let content = line.drop(while: Bytes.isBlank)
    guard let first = content.first else {
      self = .blank
      return
    }
    guard first != UInt8(ascii: "#") else {
      self = .comment
      return
    }
    if let (name, value) = CrontabVariable.read(line, allowsNothing: isCronie) {
      guard let name = Bytes.text(name), let value = Bytes.text(value) else {
        self = .unreadable("it has bytes that are not UTF-8 text, as a configuration has to be: write the value in UTF-8")
        return
      }
      self = .variable(name: name, value: value)
      return
    }
    self = Self.job(content, hasUser: hasUser, isCronie: isCronie)
  }

  private static func job(_ line: ArraySlice<UInt8>, hasUser: Bool, isCronie: Bool) -> Self {
    var position = line.startIndex
    var job = CronJob()
    if isCronie, line[position] == UInt8(ascii: "-") {
      position += 1
      job.isSilent = true
    }
    if position < line.endIndex, line[position] == UInt8(ascii: "@") {
      let word = line[position...].prefix { !Bytes.isBlank($0) }
      guard let name = CronJob.Name(rawValue: Bytes.shown(word)) else { return .bad("bad time specifier") }
      job.name = name
      position = line[word.endIndex...].firstIndex { !Bytes.isBlank($0) } ?? line.endIndex
    } else {
      if isCronie, let random = line.split(whereSeparator: Bytes.isBlank).prefix(5).first(where: { $0.contains(UInt8(ascii: "~")) }) {
        return .unreadable("cronie draws a time from \"\(Bytes.shown(random))\" whenever it reads the file: write one of them, and jitter")
      }
      for kind in VixieField.Kind.allCases {
        guard let field = VixieField(kind, line, at: &position) else { return .bad("bad \(kind.title)") }
        job.fields.append(field)
      }
    }
    if hasUser {
      let word = line[position...].prefix { !Bytes.isBlank($0) }
      guard let user = word.first, user != UInt8(ascii: "*"), word.endIndex < line.endIndex else { return .bad("bad command") }
      guard let user = Bytes.text(word) else { return .bad("bad username") }
      job.user = user
      position = line[word.endIndex...].firstIndex { !Bytes.isBlank($0) } ?? line.endIndex
    }
    let command = line[position...]
    guard isCronie || command.count <= longestCommand else { return .bad("command too long") }
    guard Bytes.text(command) != nil else {
      return .unreadable("it has bytes that are not UTF-8 text, as a configuration has to be: move the command into a script")
    }
    job.command = Array(command)
    return .job(job)
  }
}

/// A line that runs something.
struct CronJob: Equatable {
  /// A time by its name.
  enum Name: String {
    case reboot = "@reboot"
    case yearly = "@yearly"
    case annually = "@annually"
    case monthly = "@monthly"
    case weekly = "@weekly"
    case daily = "@daily"
    case midnight = "@midnight"
    case hourly = "@hourly"
  }

  /// The five fields; empty with a name.
  var fields: [VixieField] = []
  var name: Name?
  /// The user of a line that has one.
  var user: String?
  /// What follows, as bytes of UTF-8.
  var command: [UInt8] = []
  /// Cronie's `-` before the minute: cron does not write it into its log.
  var isSilent = false

  /// The times as `CronExpression` reads them; nil for `@reboot`, and for a line without any time.
  var expression: String? {
    if let name { return name == .reboot ? nil : name.rawValue }
    return fields.contains { $0.text.isEmpty } ? nil : fields.map(\.text).joined(separator: " ")
  }

  /// Whether a change of the clocks moves or omits its times: no `*` in the minute or the hour.
  var isAtFixedTimes: Bool { name.map { $0 != .hourly } ?? !fields.prefix(2).contains { $0.isStar } }
}
