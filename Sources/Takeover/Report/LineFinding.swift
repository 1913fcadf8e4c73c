/// What one line of a crontab or of a unit is, and what becomes of it. Every line has one finding.
public struct LineFinding: Sendable, Equatable {
  /// What becomes of a line.
  public enum Result: Sendable, Equatable {
    /// It does nothing: a comment, a blank line, a file that is not read. Says what it is.
    case nothing(String)
    /// It sets something for other lines; says what for.
    case setting(String)
    /// It becomes a command of the configuration.
    case command(CarriedCommand)
    /// Something else already does what it says; says what.
    case covered(String)
    /// It cannot be carried over; says why, and what to do.
    case refused(String)
  }

  /// The path of the file below the root: `/etc/crontab`.
  public let file: String
  /// From 1; 0 for a finding about the whole file.
  public let line: Int
  /// The line as it is written. Bytes that are not UTF-8 are replaced.
  public let text: String
  /// What becomes of it.
  public internal(set) var result: Result
  /// What is lost or different afterwards, a sentence each.
  public internal(set) var notes: [String]

  init(file: String, line: Int, text: String, _ result: Result, notes: [String] = []) {
    self.file = file
    self.line = line
    self.text = text
    self.result = result
    self.notes = notes
  }

  /// `/etc/crontab:17`, or the path alone for the whole file.
  public var place: String { line > 0 ? "\(file):\(line)" : file }

  /// The finding, refused if it becomes a command of a user that the host cannot become.
  ///
  /// - Parameter user: The host's user; nil for root, or if nothing is known of it.
  func refused(byHostOf user: String?) -> LineFinding {
    guard let user, let wanted = command?.user, wanted != user else { return self }
    var finding = self
    finding.result = .refused(
      "it runs as \(wanted), and the host as \(user), who cannot become \(wanted): take it over into a host that runs as \(wanted)")
    finding.notes = []
    return finding
  }

  /// The command that it becomes, if it becomes one.
  public var command: CarriedCommand? {
    if case .command(let command) = result { command } else { nil }
  }
}
