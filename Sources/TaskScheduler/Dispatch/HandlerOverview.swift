public import TaskModel

/// How one handler stands.
public struct HandlerOverview: Sendable, Hashable {
  /// Its runs that have begun.
  public var running: Int
  /// Why it takes no runs at this moment, in its launcher's words; nil: the launcher takes them.
  public var suspension: String?
  /// What counts against it.
  public var health: PluginHealth
  /// What the host lacks to run it; nil: nothing.
  public var shortage: HostShortage?

  /// How much of its rate limit is left, for people; nil: it has none.
  public var rate: String?
  /// How much of its run time quota is used, and why it is as it is, for people; nil: it has none.
  public var quota: String?
  /// When its next request is due that waits for a time; nil: none does.
  public var nextDue: WallTime?

  /// An overview as given.
  public init(running: Int, suspension: String? = nil, health: PluginHealth = PluginHealth()) {
    self.running = running
    self.suspension = suspension
    self.health = health
  }
}
