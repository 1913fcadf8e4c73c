public import CalendarTime
import TaskModel

/// What cron or systemd wrote into its log: what it started when.
public struct CronLog: Sendable {
  /// A command that cron started.
  public struct Start: Sendable, Equatable {
    /// In seconds since 1970.
    public let moment: Int
    /// Whose it was, and its text.
    public let command: LoggedCommand
  }

  /// In the order of the log.
  public private(set) var starts: [Start] = []
  /// The moment of the first line with one, in seconds since 1970; nil if there is none.
  public private(set) var begin: Int?
  /// The moment of the last line with one.
  public private(set) var end: Int?

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Reads lines of syslog or of `journalctl`, with any lines among them.
  ///
  /// - Parameters:
  ///   - isOfTimers: Whether it is about services that systemd starts, not about cron.
  ///   - now: In seconds since 1970. Lines without a year are of the year before it.
  ///   - zone: Of lines without an offset.
  public init(_ bytes: [UInt8], isOfTimers: Bool = false, now: Int, zone: TimeZoneRules) {
    for line in bytes.split(separator: 0x0a) {
      guard let (moment, rest) = Self.moment(line, now: now, zone: zone) else { continue }
      begin = min(begin ?? moment, moment)
      end = max(end ?? moment, moment)
      if let command = isOfTimers ? Self.service(rest) : Self.command(rest) { starts.append(Start(moment: moment, command: command)) }
    }
  }

  /// The moment at the beginning of a line, and what follows it.
  private static func moment(_ line: ArraySlice<UInt8>, now: Int, zone: TimeZoneRules) -> (Int, ArraySlice<UInt8>)? {
    guard let first = line.first else { return nil }
    if Bytes.isDigit(first) {
      let word = line.prefix { $0 != 0x20 }
      guard word.count < 40, var text = Bytes.text(word) else { return nil }
      // journalctl writes +0100.
      let tail = text.suffix(5)
      if tail.count == 5, let sign = tail.first, sign == "+" || sign == "-", tail.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) {
        text.insert(":", at: text.index(text.endIndex, offsetBy: -2))
      }
      guard let moment = RFC3339.parse(text) else { return nil }
      return (Int(clamping: moment.unixMilliseconds / 1000), line[word.endIndex...])
    }
    guard line.count > 15, let text = Bytes.text(line.prefix(15)) else { return nil }
    let words = text.split(separator: " ")
    guard words.count == 3, let month = months.firstIndex(of: String(words[0])), let day = Int(words[1]), (1...31).contains(day) else {
      return nil
    }
    let clock = words[2].split(separator: ":").compactMap { Int($0) }
    guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2]) else { return nil }
    let rest = line[(line.startIndex + 15)...]
    let today = CivilDate(daysSince1970: (now + zone.offset(at: now)) / 86_400)
    for year in [today.year, today.year - 1] where day <= CivilDate.days(inMonth: month + 1, of: year) {
      let local = CivilDate(year: year, month: month + 1, day: day).daysSince1970 * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
      var moment = local - zone.offset(at: local)
      moment = local - zone.offset(at: moment)
      if moment <= now + 86_400 { return (moment, rest) }
    }
    return nil
  }

  /// The command of ` host CRON[123]: (root) CMD (run-parts /etc/cron.daily)`.
  private static func command(_ rest: ArraySlice<UInt8>) -> LoggedCommand? {
    let text = Bytes.shown(rest)
    guard let colon = text.firstRange(of: "]: ("), let mark = text.firstRange(of: ") CMD ("), text.hasSuffix(")"),
      colon.upperBound <= mark.lowerBound, mark.upperBound < text.endIndex
    else { return nil }
    let program = text[..<colon.lowerBound].split(separator: " ").last ?? ""
    guard program.uppercased().contains("CRON") else { return nil }
    var command = text[mark.upperBound...].dropLast()
    // With cron -L 8, the number of the process.
    if command.first == "[", let end = command.firstRange(of: "] "), command[..<end.lowerBound].dropFirst().allSatisfy(\.isNumber) {
      command = command[end.upperBound...]
    }
    return LoggedCommand(user: String(text[colon.upperBound..<mark.lowerBound]), text: Self.trimmed(String(command)))
  }

  /// The service of ` host systemd[1]: Starting certbot.service - Certbot...`.
  private static func service(_ rest: ArraySlice<UInt8>) -> LoggedCommand? {
    let text = Bytes.shown(rest)
    guard let mark = text.firstRange(of: " systemd[1]: Starting ") else { return nil }
    let name = text[mark.upperBound...].prefix { $0 != " " && $0 != "…" }
    let service = name.hasSuffix("...") ? name.dropLast(3) : name
    return service.hasSuffix(".service") ? LoggedCommand(user: "systemd", text: String(service)) : nil
  }

  private static func trimmed(_ text: String) -> String { Bytes.shown(UnitText.trimmed(Array(text.utf8)[...])) }

  /// A command as cron prints it: control characters as `^A`, other bytes than ASCII as `\303`.
  static func printed(_ text: String) -> String {
    var printed = ""
    for byte in text.utf8 {
      switch byte {
      case 0..<0x20: printed += "^" + String(Unicode.Scalar(byte + 0x40))
      case 0x7f: printed += "^?"
      case 0x80...:
        let digits = String(byte, radix: 8)
        printed += "\\" + digits
      default: printed.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return trimmed(printed)
  }
}
