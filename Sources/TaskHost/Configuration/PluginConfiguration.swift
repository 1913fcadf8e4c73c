public import TaskModel
public import TaskScheduler

/// `[plugin."ID"]`: the operator's decisions about one identifier. A nil leaves the decision to the plugin or its kind.
public struct PluginConfiguration: Sendable, Equatable {
  /// Where a plugin's code runs.
  public enum Isolation: String, Sendable, CaseIterable {
    /// In a worker process of its own.
    case process
    /// On threads inside the host, which then trusts the plugin like itself.
    case thread
  }

  /// `file`: name of the plugin's file in a plugin directory; ties identifier and file before anything is loaded.
  public var file: String?

  /// `scope`: which requests it runs.
  public var scope = FleetScope.host

  /// `isolation`, process by default.
  public var isolation = Isolation.process

  /// `budget`, 1 ms to 30 days; nil: as registered, else the kind's.
  public var budget: Duration?

  /// `grace`, 0 to 1 h; nil: the kind's.
  public var grace: Duration?

  /// `max_concurrent_runs`, 1 to the host's; nil: as registered.
  public var maxConcurrentRuns: Int?

  /// `schedule`: a request the host keeps submitted, if any.
  public var schedule: RepeatRule?

  /// The event of a ``schedule`` that is `on EVENT`.
  public var event: EventTrigger?

  /// `jitter` of the ``schedule``'s request.
  public var jitter = Duration.zero

  /// `wake` of the ``schedule``'s request: whether it wakes the machine.
  public var wakes = false

  /// `prefer` of the ``schedule``'s request: the hosts of the fleet that get it first; nil for none.
  public var prefer: String?

  /// `ping`: where a monitor of schedules is told how runs go; nil for nowhere.
  public var ping: String?

  /// `requires`: conditions of the ``schedule``'s request.
  public var requires: Conditions = []

  /// `minimum_interval`, `on_lost_condition`, `window`, `expect_within`, `start_within`, `rate_limit`, `rate_limit_per_key`, `runs_per_key`, `resources`, `quota`: as the
  /// scheduler takes them. Its `retry` is ``retry`` with what that leaves out.
  public var scheduling = PluginLimits()

  /// `retry`: for its requests that say nothing about it; what it leaves out is as in the host's `[retry]`.
  public var retry = Retry()

  /// `may_submit`: identifiers of others that its runs may submit to.
  public var maySubmit: [IdentifierPattern] = []

  /// `may_notify`: events that its runs may raise besides those named after it.
  public var mayNotify: [EventPattern] = []

  /// `may_transfer`: whether its runs may have files transferred by the plugin that comes with the host.
  public var mayTransfer = false

  /// `may_wake`: whether the requests that its code submits may wake the machine. A plugin in a thread of the host may without it.
  public var mayWake = false

  /// `environment`: names of the host's environment variables that its worker gets.
  public var environment: [String] = []

  /// `limits` of its worker.
  public var limits = Limits()

  /// `entitlements` of its worker.
  public var entitlements = Entitlements()

  /// `settings`: the result of the plugin's `configuration()`, a JSON object with sorted keys. TOML dates become RFC 3339 strings.
  public var settings = "{}"

  /// The defaults, as for an identifier without a table.
  public init() {}
}
