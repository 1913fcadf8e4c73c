/// A `[command."ID"]` of the configuration, made of a line or of a unit.
public struct CarriedCommand: Sendable, Equatable {
  /// A schedule besides the command's own: `[schedule."ID/NAME"]`.
  public struct MoreTimes: Sendable, Equatable {
    /// Its name after the slash.
    public let name: String
    /// `every`, `cron` or `on`.
    public let key: String
    /// The value of the key.
    public let value: String
  }

  /// A maintenance window that the command names.
  public struct Window: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// `HH:MM` at which it opens.
    public let from: String
    /// `HH:MM` at which it closes.
    public let to: String
  }

  /// The identifier, which no other command of the takeover has.
  public var identifier: String
  /// The program and its arguments; empty with ``shell``.
  public var run: [String] = []
  /// A line for `/bin/sh -c`.
  public var shell: String?
  /// The value of `schedule`; nil: only ``more``, or no time at all.
  public var schedule: String?
  /// Schedules besides ``schedule``.
  public var more: [MoreTimes] = []
  /// The user, nil for the host's own.
  public var user: String?
  /// Where it starts, nil for the home directory.
  public var directory: String?
  /// `NAME=VALUE`, sorted by name.
  public var environment: [String] = []
  /// How long a run may take. Cron ends no run.
  public var budget = "30d"
  /// The time between SIGTERM and SIGKILL, nil for the host's.
  public var grace: String?
  /// `minimum_interval`, for an interval that is shorter than the host's.
  public var minimumInterval: String?
  /// How late a run may be, as a duration.
  public var jitter: String?
  /// Whether it wakes the machine.
  public var wakes = false
  /// Conditions of the machine.
  public var requires: [String] = []
  /// When it may run.
  public var window: Window?
  /// Results by exit code.
  public var exitCodes: [(code: String, result: String)] = []
  /// `limits.memory`.
  public var memory: String?
  /// `limits.descriptors`.
  public var descriptors: Int?
  /// The addresses that hear of failures.
  public var mails: [String] = []
  /// When it runs, for a comparison with a log; empty if the times are not those of a calendar alone.
  public var times: [CronTimes] = []
  /// The timer that it was; nil for a line of cron.
  public var timer: String?
  /// How cron or systemd writes it into its log.
  public var logged: LoggedCommand?
  /// How many seconds after its time cron or systemd may start it. Cron wakes once a minute.
  public var tolerance = 59

  init(_ identifier: String) { self.identifier = identifier }

  /// Whether both become the same table.
  public static func == (left: CarriedCommand, right: CarriedCommand) -> Bool {
    left.identifier == right.identifier && ConfigurationText.table(of: left) == ConfigurationText.table(of: right)
  }
}

/// The times of a line of a crontab.
public struct CronTimes: Sendable, Equatable {
  /// Five fields, or a name such as `@daily`, as `CronExpression` reads them.
  public let expression: String
  /// The zone that the line is read in; nil: the machine's.
  public let zone: String?
  /// Whether a clock change moves or omits its times: neither its minute nor its hour is a `*`.
  public let isAtFixedTimes: Bool
}

/// A command as cron writes it into its log: `(root) CMD (run-parts /etc/cron.daily)`; or a service as systemd does: `Starting x.service`.
public struct LoggedCommand: Sendable, Hashable {
  /// The user in the first parentheses; `systemd` for a service.
  public let user: String
  /// The text in the second parentheses; the name of the service.
  public let text: String
}
