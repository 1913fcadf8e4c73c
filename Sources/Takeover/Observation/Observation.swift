public import CalendarTime

/// What the host would have run when, beside what cron did.
public struct Observation: Sendable {
  /// One command of cron; several lines with the same user and text are one.
  public struct Row: Sendable, Equatable {
    /// The identifiers of its commands.
    public var identifiers: [String]
    /// How cron logs it.
    public let command: LoggedCommand
    /// How many times the host would have run it.
    public var expected = 0
    /// How many of them cron did.
    public var matched = 0
    /// Times of the host at which cron did nothing, in seconds since 1970.
    public var missing: [Int] = []
    /// Times of cron at which the host would have done nothing.
    public var extra: [Int] = []
    /// How many seconds cron was late at most.
    public var latest = 0
  }

  /// The span that was compared begins after it, in seconds since 1970.
  public let from: Int
  /// The last second of the span, since 1970.
  public let to: Int
  /// In the order of the lines.
  public private(set) var rows: [Row] = []
  /// Commands that have no times on the calendar, so that nothing is compared.
  public private(set) var notCompared: [String] = []
  /// What cron ran and no line says, with its count: lines that are gone, or are not carried over.
  public private(set) var unknown: [(command: LoggedCommand, count: Int)] = []

  private static let most = 1_000_000

  /// Compares the commands with a log.
  ///
  /// - Parameters:
  ///   - from: The span begins after it, or after the log's first whole minute if that is later.
  ///   - to: The span ends with it, or with the log's last moment if that is earlier.
  public init(_ commands: [CarriedCommand], with log: CronLog, from: Int, to: Int, zone: TimeZoneRules) {
    let begin = max(from, log.begin.map { ($0 + 59) / 60 * 60 - 1 } ?? to)
    // The last minute may not be over.
    let end = min(to, log.end.map { $0 / 60 * 60 - 1 } ?? to)
    (self.from, self.to) = (begin, max(begin, end))
    var places: [LoggedCommand: Int] = [:]
    var expected: [[Int]] = []
    var tolerances: [Int] = []
    for command in commands {
      guard !command.times.isEmpty, let logged = command.logged else {
        notCompared.append(command.identifier)
        continue
      }
      let key = LoggedCommand(user: logged.user, text: CronLog.printed(logged.text))
      let place = places[key] ?? rows.count
      if place == rows.count {
        places[key] = place
        rows.append(Row(identifiers: [], command: key))
        expected.append([])
        tolerances.append(command.tolerance)
      }
      rows[place].identifiers.append(command.identifier)
      for times in command.times { expected[place] += Self.moments(times, after: self.from, upTo: self.to, zone: zone) }
    }
    var seen: [[Int]] = rows.map { _ in [] }
    var strangers: [LoggedCommand: Int] = [:]
    for start in log.starts where start.moment > self.from && start.moment <= self.to {
      if let place = places[start.command] ?? Self.place(of: start.command, in: places) {
        seen[place].append(start.moment)
      } else {
        strangers[start.command, default: 0] += 1
      }
    }
    for place in rows.indices {
      rows[place].compare(expected[place].sorted(), seen[place].sorted(), tolerance: tolerances[place], until: self.to)
    }
    unknown = strangers.sorted { ($0.key.user, $0.key.text) < ($1.key.user, $1.key.text) }.map { ($0.key, $0.value) }
  }

  /// A crontab whose owner nobody has named: the text alone decides.
  private static func place(of command: LoggedCommand, in places: [LoggedCommand: Int]) -> Int? {
    places[LoggedCommand(user: "", text: command.text)]
  }

  private static func moments(_ times: CronTimes, after from: Int, upTo to: Int, zone: TimeZoneRules) -> [Int] {
    guard let expression = try? CronExpression(times.expression) else { return [] }
    let rules = times.zone.flatMap { try? ZoneDirectory().rules(of: $0) } ?? zone
    let schedule = CronSchedule(expression, in: rules)
    var (moments, moment): ([Int], Int) = ([], from)
    while moments.count < most, let next = schedule.next(after: moment), next <= to {
      moments.append(next)
      moment = next
    }
    return moments
  }

  /// Whether cron did exactly what the host would have done.
  public var isEqual: Bool { rows.allSatisfy { $0.missing.isEmpty && $0.extra.isEmpty } }
}

extension Observation.Row {
  /// Pairs each expected time with the first start within the tolerance after it. Both are sorted. A time whose tolerance is not over at the
  /// end of the log does not count.
  fileprivate mutating func compare(_ times: [Int], _ starts: [Int], tolerance: Int, until end: Int) {
    var index = 0
    for time in times {
      while index < starts.count, starts[index] < time {
        extra.append(starts[index])
        index += 1
      }
      if index < starts.count, starts[index] <= time + tolerance {
        expected += 1
        matched += 1
        latest = max(latest, starts[index] - time)
        index += 1
      } else if time + tolerance <= end {
        expected += 1
        missing.append(time)
      }
    }
    extra += starts[index...]
  }
}
