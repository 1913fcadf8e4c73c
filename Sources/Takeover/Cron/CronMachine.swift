public import CalendarTime

/// A file of lines for cron or anacron.
public struct CronFile: Sendable {
  /// How its lines are read.
  public enum Kind: Sendable, Equatable {
    /// `/etc/crontab` and `/etc/cron.d`: with a user before the command.
    case system
    /// A person's crontab; the user is nil if nobody said whose it is.
    case user(String?)
    /// `/etc/anacrontab`.
    case anacron
  }

  /// Its path below the root.
  public let path: String
  /// How its lines are read.
  public let kind: Kind
  /// Its content.
  public let bytes: [UInt8]
  /// Why cron does not read it: its name, owner or mode; nil if it does.
  public let flaw: String?
  /// Whether the flaw is there on purpose, as the names of dpkg's copies are.
  public let isFlawIntended: Bool

  /// Creates a file.
  public init(path: String, kind: Kind, bytes: [UInt8], flaw: String? = nil, isFlawIntended: Bool = false) {
    self.path = path
    self.kind = kind
    self.bytes = bytes
    self.flaw = flaw
    self.isFlawIntended = isFlawIntended
  }
}

/// A folder whose programs `run-parts` runs.
public struct CronFolder: Sendable {
  /// A file of the folder.
  public struct Script: Sendable {
    /// Its name.
    public let name: String
    /// Why `run-parts` leaves it alone; nil if it runs it.
    public let flaw: String?

    /// Creates a script.
    public init(name: String, flaw: String?) {
      self.name = name
      self.flaw = flaw
    }
  }

  /// Its path below the root: `/etc/cron.daily`.
  public let path: String
  /// Its files, by name.
  public let scripts: [Script]

  /// Creates a folder.
  public init(path: String, scripts: [Script]) {
    self.path = path
    self.scripts = scripts
  }
}

/// Everything about a machine that says what its cron does.
public struct CronMachine: Sendable {
  /// Files for cron and anacron, in the order in which they are shown.
  public var files: [CronFile]
  /// The folders of `run-parts`.
  public var folders: [CronFolder] = []
  /// Places that cannot be read, and why.
  public var unreadable: [(path: String, why: String)] = []
  /// Whether `/usr/sbin/anacron` is there.
  public var hasAnacron = false
  /// Whether its cron is cronie, which skips a bad line alone and reads `CRON_TZ`.
  public var isCronie = false
  /// Whether the machine knows a user.
  public var isUser: @Sendable (String) -> Bool = { _ in true }
  /// The user of the host that is going to run the commands; nil if it runs as root, or nothing is known of it.
  public var hostUser: String?
  /// The machine's time zone.
  public var zone = TimeZoneRules.utc
  /// The rules of a zone by its name; nil if there is none.
  public var zoneNamed: @Sendable (String) -> TimeZoneRules? = { try? ZoneDirectory().rules(of: $0) }
  /// The moment of the takeover, in seconds since 1970: changes of the clocks within two years after it are looked at.
  public var now = 0

  /// A machine with these files.
  public init(files: [CronFile]) { self.files = files }
}
