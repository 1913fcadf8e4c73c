public import HostConditions
public import RecordJSON
public import SchedulingLimits
public import TaskModel

/// Everything an operator decides about a host: the content of `taskhost.toml`, with a default for every key.
///
/// A value is complete and consistent; ``load(file:)`` reports all problems at once. Paths are absolute.
public struct HostConfiguration: Sendable, Equatable {
  /// The file it was read from, or nil for the defaults.
  public var file: String?

  /// What that file says, key by key.
  var written = WrittenKeys()

  /// `plugin_directories`: the directories to search for plugins, in this order.
  public var pluginDirectories: [String]

  /// `state_directory`: database, plugin copies, data of plugins.
  public var stateDirectory: String

  /// `store_mark`: a file outside of the state directory that also records what is in the store, so that the host notices if the state
  /// directory was deleted; nil for none.
  public var storeMark: String?

  /// `permitted_identifiers`: who may register. Nil, the default, permits every plugin of a trusted directory.
  public var permittedIdentifiers: [IdentifierPattern]?

  /// `max_concurrent_runs` of the whole host, 1 to 10,000.
  public var maxConcurrentRuns = 16

  /// `max_pending`: requests an identifier may have pending, 1 to 10,000,000.
  public var maxPending = 10_000

  /// `minimum_interval` of repeating requests, 1 s to 366 days.
  public var minimumInterval: Duration = .seconds(15 * 60)

  /// `launch_budget`: how long a plugin's launch may take, 10 ms to 10 min.
  public var launchBudget: Duration = .seconds(5)

  /// `drain_timeout`: how long live runs may go on at shutdown before they are expired, 0 to 1 day.
  public var drainTimeout: Duration = .seconds(30)

  /// `overdue_after`: how long a due request may wait before it is reported as a problem, 1 s to 366 days.
  public var overdueAfter: Duration = .seconds(3600)

  /// `require_signatures`: whether a plugin must be signed by one of ``trustedKeys``.
  public var requireSignatures = false

  /// `reload`: what happens when files that a reload would read have changed.
  public var reload = ReloadMode.manual

  /// `approve_entitlements`: whether a plugin that may do more than was approved waits until it is approved.
  public var approveEntitlements = false

  /// `require_sandbox`: whether a plugin that cannot be sandboxed is refused.
  public var requireSandbox = false

  /// `metered_interfaces`: names of network interfaces that cost money.
  public var meteredInterfaces: [String] = []

  /// `redact`: the members of payloads that nobody but handlers sees.
  public var redact: [PayloadRedaction.Pattern] = []

  /// `profile`: the limits of what the file does not limit; `server`, which limits nothing, by default.
  public var profile = ThrottlingProfile.server

  /// `[idle]`: whether work waits for maintenance windows while the machine rests on battery.
  public var idle = Idle()

  /// `rate_limit`: how often runs of the whole host may begin; nil for no limit.
  public var rateLimit: Rate?

  /// `event_quota`: how often events may wake the requests of one identifier; nil for no limit.
  public var eventQuota: Rate?

  /// `[resources]`: the number of tokens of each named resource.
  public var resources: [String: Int] = [:]

  /// `[windows.NAME]`: maintenance windows.
  public var windows: [String: Window] = [:]

  /// `[events.NAME]`: sockets on which events arrive, by the events' names.
  public var events: [String: EventSocket] = [:]

  /// `[conditions]`: when the machine's conditions count as held.
  public var conditions = ConditionSettings()

  /// `[control]`: how clients reach the host.
  public var control: Control

  /// `[log]`: what is logged and how.
  public var log = Log()

  /// `[history]`: how long records of runs are kept.
  public var history = History()

  /// `[retry]`: defaults for requests that say nothing: `attempts`, 1 to 1000; `backoff`; `initial` delay, 100 ms to 30 days; `maximum`
  /// delay, not less than that, up to 30 days.
  public var retry = RetryPolicy()

  /// `[[trusted_keys]]`: who may sign plugins, and which.
  public var trustedKeys: [TrustedKey] = []

  /// `[encryption]`: the keys with which the values of the store are sealed.
  public var encryption = Encryption()

  /// `[fleet]`: the database that the hosts of a fleet share.
  public var fleet = Fleet()

  /// `[traces]`: where spans of submissions and runs go.
  public var traces = Traces()

  /// `[[notify]]`: whom to tell of what happens.
  public var notify: [NotifyRule] = []

  /// `[plugin."ID"]` by identifier. An identifier without a table has the defaults of ``PluginConfiguration``.
  public var plugins: [String: PluginConfiguration] = [:]

  /// `[command."ID"]` by identifier: programs that run as tasks. ``plugins`` has the plugin of each.
  public var commands: [String: CommandConfiguration] = [:]

  /// `[schedule."ID/NAME"]`: schedules besides those in the tables of the identifiers.
  public var schedules: [ScheduleName: ScheduleConfiguration] = [:]

  /// The configuration without a file.
  ///
  /// - Parameter directory: Absolute path that `plugins` and `state` are relative to; the working directory for a host started without a
  ///   file, the file's directory otherwise.
  public init(directory: String) {
    pluginDirectories = [ConfigurationFile.resolve("plugins", in: directory)]
    stateDirectory = ConfigurationFile.resolve("state", in: directory)
    control = Control(socket: ConfigurationFile.resolve("state/control.sock", in: directory))
  }

  /// Whether a plugin may register `identifier`.
  public func permits(_ identifier: TaskIdentifier) -> Bool {
    (permittedIdentifiers?.contains { $0.matches(identifier) } ?? true) || isNotice(identifier.rawValue)
  }

  /// The settings of one identifier: its table, or the defaults.
  public func plugin(_ identifier: String) -> PluginConfiguration {
    plugins[identifier] ?? PluginConfiguration()
  }
}
