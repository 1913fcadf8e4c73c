/// Somebody holds a single request back until somebody resumes it. It survives restarts of the host.
///
/// A paused request waits like one whose condition does not hold: its run is asked to stop, which spends no attempt, and it goes on once it
/// is resumed. It keeps its times, its key and its place among its dependants.
public struct RequestPause: Sendable, Hashable {
  /// Who paused it, in words for people: "user 1000", "plugin com.example.app". At most 256 bytes.
  public var by: String
  /// Since when.
  public var since: WallTime
  /// Why; nil if nobody said. At most 1,024 bytes.
  public var reason: String?

  /// Whether a plugin paused a request of its own. Its resumption ends no pause of the operator's; that one ends both.
  public var isPlugins: Bool

  /// Creates a pause.
  public init(by: String, since: WallTime, reason: String? = nil, isPlugins: Bool = false) {
    self.by = by
    self.since = since
    self.reason = reason
    self.isPlugins = isPlugins
  }

  /// Refuses a reason that no host takes. A refusal names the member of the JSON body.
  public func check() throws(RequestRefusal) {
    guard by.utf8.count <= Self.byBytes else { throw RequestRefusal(.invalid, "by: at most \(Self.byBytes) bytes are expected") }
    guard let reason else { return }
    guard !reason.isEmpty, reason.utf8.count <= Self.reasonBytes, reason.utf8.allSatisfy({ $0 != 0 }) else {
      throw RequestRefusal(.invalid, "why: 1 to \(Self.reasonBytes) bytes without a NUL character are expected", field: "why")
    }
  }

  /// The beginning of ``by`` of a plugin's pause.
  public static let pluginPrefix = "plugin "

  /// A pause by a plugin, of its own request.
  public init(byPlugin identifier: TaskIdentifier, since: WallTime) {
    self.init(by: Self.pluginPrefix + identifier.rawValue, since: since, isPlugins: true)
  }

  /// The pause of a submission for a fleet whose database is away: the host ends it, once the fleet has the request.
  public static func parked(since: WallTime) -> RequestPause {
    RequestPause(by: parker, since: since, reason: "it is parked, and goes to the fleet when the database answers")
  }

  private static let parker = "the host"

  /// Whether the request is parked for the fleet.
  public var isParked: Bool { by == Self.parker }

  /// The longest ``by``.
  public static let byBytes = 256
  /// The longest reason.
  public static let reasonBytes = 1024
}
