/// The status of a plugin file.
public struct PluginStatus: Sendable, Hashable {
  /// The state of a plugin.
  public enum PluginHealth: String, Sendable, CaseIterable {
    /// Registered; gets runs.
    case registered
    /// Registered, but gets no runs: a run exceeded its grace, and its thread has not returned.
    case suspended
    /// Registered, but gets no runs for a while: it crashed, or had to be stopped by force.
    case held
    /// Registered, but gets no runs until it is released: it crashed or had to be stopped by force too often.
    case quarantined
    /// Not loaded: it waits for approval.
    case unapproved
    /// Not loaded, or not registered; `reason` says why.
    case refused
  }

  /// The path of the file.
  public var file: String
  /// The program and its arguments, for a command of the configuration; nil for a plugin.
  public var command: [String]?
  /// The plugin's state.
  public var health: PluginHealth
  /// What the plugin registered; nil if it was refused.
  public var contract: HandlerContract?
  /// "thread" or "process"; nil if the plugin is not loaded.
  public var isolation: String?
  /// The number of live runs.
  public var running: Int
  /// Why the plugin is refused or suspended: a machine-readable code and a sentence.
  public var reason: (code: String, message: String)? { reasonCode.map { ($0, reasonMessage ?? "") } }
  /// The code of `reason`.
  public var reasonCode: String?
  /// The sentence of `reason`.
  public var reasonMessage: String?

  /// The id of the worker process; nil if none runs.
  public var workerProcessID: Int32?
  /// What the worker does: "starting", "idle", "busy", …; nil if none runs.
  public var workerState: String?
  /// Crashes and forced stops since the plugin's last good run.
  public var failures: Int
  /// The plugin gets no runs before this time; nil if it is not held.
  public var heldUntil: WallTime?
  /// Whether the plugin gets no runs until it is released.
  public var isQuarantined: Bool
  /// The last crash or forced stop, as a sentence.
  public var lastTrouble: String?
  /// Who signed the file; nil if nobody did, or if signatures are not checked.
  public var signature: String?
  /// SHA-256 of the file's content, in hexadecimal.
  public var digest: String?
  /// The parts of the plugin's sandbox that the machine lacks, and what the sandbox denied to the plugin.
  public var sandbox: [String]
  /// The run time that is left, as a sentence; nil if the plugin has no quota.
  public var quota: String?
  /// How often the plugin's runs may start, as a sentence; nil if there is no limit.
  public var rate: String?
  /// What the plugin may do, a sentence without a full stop each.
  public var permissions: [String]
  /// What waits for approval, if anything does.
  public var approval: PendingApproval?

  /// Creates a status. `registered` becomes `held` or `quarantined` if the other arguments say so; `suspended` can only become
  /// `quarantined`.
  public init(
    file: String, health: PluginHealth, contract: HandlerContract? = nil, isolation: String? = nil, running: Int = 0,
    reasonCode: String? = nil, reasonMessage: String? = nil, workerProcessID: Int32? = nil, workerState: String? = nil, failures: Int = 0,
    heldUntil: WallTime? = nil, isQuarantined: Bool = false, lastTrouble: String? = nil, signature: String? = nil, digest: String? = nil,
    sandbox: [String] = [], quota: String? = nil, rate: String? = nil, command: [String]? = nil, permissions: [String] = []
  ) {
    self.file = file
    self.health =
      switch health {
      case .registered where !isQuarantined && heldUntil != nil: .held
      case .registered where isQuarantined, .suspended where isQuarantined: .quarantined
      default: health
      }
    self.workerProcessID = workerProcessID
    self.workerState = workerState
    self.failures = failures
    self.heldUntil = heldUntil
    self.isQuarantined = isQuarantined
    self.lastTrouble = lastTrouble
    self.signature = signature
    self.digest = digest
    self.sandbox = sandbox
    self.quota = quota
    self.rate = rate
    self.permissions = permissions
    self.command = command
    self.contract = contract
    self.isolation = isolation
    self.running = running
    self.reasonCode = reasonCode
    self.reasonMessage = reasonMessage
  }
}
