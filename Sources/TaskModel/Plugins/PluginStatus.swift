/// A plugin file and what became of it.
public struct PluginStatus: Sendable, Hashable {
  /// Where it stands.
  public enum PluginHealth: String, Sendable, CaseIterable {
    /// Registered, takes runs.
    case registered
    /// Registered, takes no runs: a thread it overran is still in its hands.
    case suspended
    /// Registered, takes no runs for a while: it crashed, or had to be stopped by force.
    case held
    /// Registered, takes no runs until it is released: it did so too often.
    case quarantined
    /// Not loaded, or not registered; `reason` says why.
    case refused
  }

  /// The file's path.
  public var file: String
  /// Where it stands.
  public var health: PluginHealth
  /// What it registered; nil when refused.
  public var contract: HandlerContract?
  /// "thread" or "process"; nil if it is not loaded.
  public var isolation: String?
  /// Its runs now.
  public var running: Int
  /// Why it is refused or suspended: a machine-readable code and a sentence.
  public var reason: (code: String, message: String)? { reasonCode.map { ($0, reasonMessage ?? "") } }
  /// The code of `reason`.
  public var reasonCode: String?
  /// The sentence of `reason`.
  public var reasonMessage: String?

  /// Its worker process; nil if none runs.
  public var workerProcessID: Int32?
  /// What its worker does: "starting", "idle", "busy", …; nil if none runs.
  public var workerState: String?
  /// Crashes and forced stops since its last good run.
  public var failures: Int
  /// It gets no runs before then; nil if it is not held.
  public var heldUntil: WallTime?
  /// It takes no runs until it is released.
  public var isQuarantined: Bool
  /// What counted against it last: a sentence.
  public var lastTrouble: String?
  /// Who signed its file; nil if nobody did, or if signatures are not checked.
  public var signature: String?
  /// SHA-256 of its file's content, in hexadecimal.
  public var digest: String?
  /// What of its sandbox the machine does not give, and what it was denied.
  public var sandbox: [String]
  /// What is left of its run time, a sentence; nil if it has no quota.
  public var quota: String?
  /// How often it may start, a sentence; nil if there is no limit.
  public var rate: String?

  /// A status as given. One that is `registered` becomes `held` or `quarantined` where it is, one that is `suspended` only `quarantined`.
  public init(
    file: String, health: PluginHealth, contract: HandlerContract? = nil, isolation: String? = nil, running: Int = 0,
    reasonCode: String? = nil, reasonMessage: String? = nil, workerProcessID: Int32? = nil, workerState: String? = nil, failures: Int = 0,
    heldUntil: WallTime? = nil, isQuarantined: Bool = false, lastTrouble: String? = nil, signature: String? = nil, digest: String? = nil,
    sandbox: [String] = [], quota: String? = nil, rate: String? = nil
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
    self.contract = contract
    self.isolation = isolation
    self.running = running
    self.reasonCode = reasonCode
    self.reasonMessage = reasonMessage
  }
}
