/// What a plugin registered, with the operator's limits applied: all that scheduling needs to know of it.
public struct HandlerContract: Sendable, Hashable {
  /// The identifier its handler serves.
  public var identifier: TaskIdentifier
  /// What sort of work.
  public var kind: TaskKind
  /// How long a run may take before it expires; nil: no limit.
  public var budget: Duration?
  /// How long from expiration to force.
  public var grace: Duration
  /// How many runs it allows at once; at least 1.
  public var maxConcurrentRuns: Int
  /// For people.
  public var displayName: String?
  /// The plugin's own version.
  public var version: String?
  /// How its function is called, if the handler is a typed one; nil: it is given its run and reads the payload itself.
  public var typed: TypedContract?

  /// A contract as given.
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
