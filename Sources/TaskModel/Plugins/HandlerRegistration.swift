/// What a plugin's registration says, before the operator's limits are applied.
public struct HandlerRegistration: Sendable, Hashable {
  /// The identifier its handler serves.
  public var identifier: TaskIdentifier
  /// What sort of work.
  public var kind: TaskKind
  /// A shorter budget than the kind's; nil: the kind's.
  public var budget: Duration?
  /// How many runs it allows at once; 1 to ``Limits/concurrentRuns``.
  public var maxConcurrentRuns: Int
  /// For people.
  public var displayName: String?
  /// The plugin's own version.
  public var version: String?
  /// How its function is called, if the handler is a typed one; nil: it is given its run and reads the payload itself.
  public var typed: TypedContract?

  /// A registration as given.
  public init(
    identifier: TaskIdentifier, kind: TaskKind, budget: Duration? = nil, maxConcurrentRuns: Int = 1, displayName: String? = nil,
    version: String? = nil, typed: TypedContract? = nil
  ) {
    self.identifier = identifier
    self.kind = kind
    self.budget = budget
    self.maxConcurrentRuns = maxConcurrentRuns
    self.displayName = displayName
    self.version = version
    self.typed = typed
  }
}
