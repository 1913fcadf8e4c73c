public import TaskModel

/// The state of one handler.
public struct HandlerOverview: Sendable, Hashable {
  /// The number of runs that have begun.
  public var running: Int
  /// Why it accepts no runs now, in its launcher's words; nil if it accepts them.
  public var suspension: String?
  /// The plugin's health: the failures that count against it.
  public var health: PluginHealth
  /// What the host lacks to run it; nil if nothing.
  public var shortage: HostShortage?
  /// Whether submissions are refused, because it has as many live requests as `max_pending` says.
  public var isFull = false

  /// What is left of its rate limit, as text for people; nil if it has no rate limit.
  public var rate: String?
  /// What it has used of its run time quota, and why its allowance is what it is, as text for people; nil if it has no quota.
  public var quota: String?
  /// The rate, quota or idle stage that holds a request which is due; nil if none does.
  public var throttle: Gate?
  /// When its next timed request is due; nil if there is none.
  public var nextDue: WallTime?

  /// Creates an overview.
  public init(running: Int, suspension: String? = nil, health: PluginHealth = PluginHealth()) {
    self.running = running
    self.suspension = suspension
    self.health = health
  }
}
