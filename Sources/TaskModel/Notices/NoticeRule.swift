/// Whom to tell of incidents, and how often.
public struct NoticeRule: Sendable, Hashable {
  /// The rule's name, unique among the rules of a host.
  public var name: String
  /// The identifier whose requests tell of incidents: their payload is the notification. Nil: nothing is submitted, and only observers hear of
  /// it.
  public var target: TaskIdentifier?
  /// What it tells of.
  public var kinds: Set<Incident.Kind>
  /// Whose incidents it tells of; empty: everybody's.
  public var identifiers: [IdentifierPattern]
  /// The number of failed runs in a row that is told of as ``Incident/Kind/failing``, from 1.
  public var failures: Int
  /// How long after the begin of a notification the next one begins at the earliest. What happens in between is told together.
  public var window: Duration
  /// Whether observers hear of it and people do not, so that no recovery follows from it.
  public var isSilent = false
  /// How many notifications begin in an hour, from 1. What happens beyond that is told together later.
  public var perHour: Int

  /// Creates a rule.
  public init(
    _ name: String, target: TaskIdentifier?, kinds: Set<Incident.Kind>, identifiers: [IdentifierPattern] = [], failures: Int = 3,
    window: Duration = .seconds(30), perHour: Int = 20
  ) {
    self.name = name
    self.target = target
    self.kinds = kinds
    self.identifiers = identifiers
    self.failures = failures
    self.window = window
    self.perHour = perHour
  }

  /// The beginning of the tag of the requests that tell, before the rule's name.
  public static let tagPrefix = "notify:"

  /// The tag of the requests that tell.
  public var tag: String { Self.tagPrefix + name }

  /// Whether it tells of an incident.
  public func covers(_ incident: Incident) -> Bool {
    guard kinds.contains(incident.kind) else { return false }
    if incident.kind == .failing, incident.failures != failures { return false }
    return identifiers.isEmpty || identifiers.contains { $0.matches(incident.identifier) }
  }
}

/// Whom a host tells of incidents.
public struct NoticePolicy: Sendable, Hashable {
  /// The host's name, as receivers get it.
  public var host: String
  /// The rules.
  public var rules: [NoticeRule]

  /// Creates a policy; by default, nobody is told.
  public init(host: String = "", rules: [NoticeRule] = []) {
    self.host = host
    self.rules = rules
  }
}

/// What became of the incidents of a turn that a rule covers.
public enum NoticeStep: Sendable, Hashable {
  /// A notification was submitted.
  case submitted
  /// They were added to one that waits.
  case grouped
  /// The scheduler refused a notification, with the reason: nobody is told.
  case refused(String)
}
