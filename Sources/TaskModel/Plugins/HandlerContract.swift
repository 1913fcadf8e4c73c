/// What a plugin registered, with the operator's limits applied. The scheduler knows nothing else about the plugin.
public struct HandlerContract: Sendable, Hashable {
  /// The identifier that the handler serves.
  public var identifier: TaskIdentifier
  /// The kind of work.
  public var kind: TaskKind
  /// How long a run may take before it expires; nil means no limit.
  public var budget: Duration?
  /// The time from expiration until the run is stopped by force.
  public var grace: Duration
  /// The maximum number of concurrent runs, from 1.
  public var maxConcurrentRuns: Int
  /// The name that people see.
  public var displayName: String?
  /// The plugin's own version.
  public var version: String?
  /// How to call a typed handler's function; nil for a handler that takes its run and reads the payload itself.
  public var typed: TypedContract?

  /// Creates a contract.
  public init(
    identifier: TaskIdentifier, kind: TaskKind, budget: Duration?, grace: Duration, maxConcurrentRuns: Int = 1, displayName: String? = nil,
    version: String? = nil, typed: TypedContract? = nil
  ) {
    self.identifier = identifier
    self.kind = kind
    self.budget = budget
    self.grace = grace
    self.maxConcurrentRuns = max(1, maxConcurrentRuns)
    self.displayName = displayName
    self.version = version
    self.typed = typed
  }
}
