import CalendarTime
import Glibc
import HostThreads
import Takeover

/// Finds what cron or systemd has logged, and compares it.
struct CronLogPlaces {
  let root: RootFolder
  /// The log that a person named; `-` is standard input.
  let file: String?
  /// Whether systemd's log is meant, not cron's.
  let isOfTimers: Bool

  /// Of a larger log, the end counts.
  private static let largest = 256 << 20

  /// - Parameters:
  ///   - now: In seconds since 1970.
  ///   - zone: The machine's.
  func observe(_ commands: [CarriedCommand], now: Int, zone: TimeZoneRules, hours: Int) throws(CommandFailure) -> Observation {
    let from = now - hours * 3600
    let log = CronLog(try bytes(since: from), isOfTimers: isOfTimers, now: now, zone: zone)
    guard log.begin != nil else {
      throw CommandFailure(
        .failed, name, "it has no line with a time",
        remedy: "name a log with --log, such as /var/log/syslog or /var/log/cron.log")
    }
    return Observation(commands, with: log, from: from, to: now, zone: zone)
  }

  /// For messages.
  private var name: String { file ?? (isOfTimers ? "the log of systemd" : "the log of cron") }

  private func bytes(since from: Int) throws(CommandFailure) -> [UInt8] {
    do throws(ErrorNumber) {
      if let file { return file == "-" ? try WholeTransfer.read(from: STDIN_FILENO, atMost: Self.largest) : try Self.end(of: file) }
      for place in isOfTimers ? ["/var/log/syslog"] : ["/var/log/cron.log", "/var/log/syslog", "/var/log/cron"]
      where root.status(place).map({ $0.st_mode & S_IFMT == S_IFREG }) == true {
        return try Self.end(of: root.path + root.resolve(place))
      }
      guard root.isMachine else { throw ErrorNumber(ENOENT) }
      return try Self.journal(isOfTimers ? "_PID=1" : "-t CRON -t CROND -t cron -t crond", since: from)
    } catch {
      throw CommandFailure(.failed, name, error.description, remedy: "name a log that you can read with --log")
    }
  }

  /// The last bytes of a file, from the beginning of a line.
  private static func end(of path: String) throws(ErrorNumber) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw .last }
    let isCut = info.st_mode & S_IFMT == S_IFREG && info.st_size > largest
    if isCut { lseek(descriptor, info.st_size - off_t(largest), SEEK_SET) }
    let bytes = try WholeTransfer.read(from: descriptor, atMost: largest)
    return isCut ? Array(bytes[(bytes.firstIndex(of: 0x0a).map { $0 + 1 } ?? 0)...]) : bytes
  }

  /// What the journal has.
  ///
  /// - Parameter filter: Words of this source code for `journalctl`.
  private static func journal(_ filter: String, since from: Int) throws(ErrorNumber) -> [UInt8] {
    let line = "exec journalctl --no-pager --quiet -o short-iso \(filter) --since=@\(from) 2>/dev/null"
    guard let stream = popen(line, "r") else { throw .last }
    defer { pclose(stream) }
    return try WholeTransfer.read(from: fileno(stream), atMost: largest)
  }
}
