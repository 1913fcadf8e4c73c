import CalendarTime

/// The files of one unit, from every folder of units that counts.
public struct UnitFiles: Sendable {
  /// `certbot.timer`.
  public let name: String
  /// The unit's file, and after it its drop-ins in the order in which they count.
  public let texts: [UnitText]
  /// The path of the file.
  public let path: String
  /// Whether it is linked to `/dev/null`, or empty.
  public let isMasked: Bool

  /// Creates the files of a unit.
  public init(name: String, texts: [UnitText], path: String, isMasked: Bool = false) {
    self.name = name
    self.texts = texts
    self.path = path
    self.isMasked = isMasked
  }

  /// The services that a timer may start: its own name's, and those that `Unit=` names.
  public var services: [String] {
    let own = name.hasSuffix(".timer") ? [String(name.dropLast(".timer".count)) + ".service"] : []
    let specifiers = UnitSpecifiers(unit: name)
    return own
      + texts.flatMap(\.entries).compactMap { entry in
        guard case .assignment("Timer", "Unit", let value) = entry.content else { return nil }
        return try? specifiers.expand(value)
      }
  }
}

/// A user of a machine.
public struct UserAccount: Sendable, Equatable {
  /// Its name.
  public let name: String
  /// The number of its own group; nil if nothing is known of it.
  public let group: UInt32?

  /// Creates an account.
  public init(name: String, group: UInt32? = nil) {
    self.name = name
    self.group = group
  }

  /// Whether systemd takes a text for a user's number: it has digits alone.
  public static func isNumber(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(Bytes.isDigit) }
}

/// Everything about a machine that says what its timers do.
public struct TimerMachine: Sendable {
  /// The timers, by name.
  public var timers: [UnitFiles]
  /// The services by name, with those of templates under the name of the instance.
  public var services: [String: UnitFiles]
  /// The names of timers that something starts at boot.
  public var enabled: Set<String>
  /// The paths of all links that start a timer at boot, by its name.
  public var links: [String: [String]] = [:]
  /// Places that cannot be read, and why.
  public var unreadable: [(path: String, why: String)] = []
  /// The account that has a name or, for digits alone, a number.
  public var account: @Sendable (String) -> UserAccount? = { UserAccount.isNumber($0) ? nil : UserAccount(name: $0) }
  /// The user of the host that is going to run the commands; nil if it runs as root, or nothing is known of it.
  public var hostUser: String?
  /// Whether there is a time zone of that name.
  public var isZone: @Sendable (String) -> Bool = { (try? ZoneDirectory().rules(of: $0)) != nil }
  /// The content of an `EnvironmentFile=`; nil if it cannot be read.
  public var environmentFile: @Sendable (String) -> [UInt8]? = { _ in nil }

  /// A machine with these units.
  public init(timers: [UnitFiles], services: [String: UnitFiles], enabled: Set<String>) {
    self.timers = timers
    self.services = services
    self.enabled = enabled
  }
}
