/// A plugin's registration, before the operator's limits are applied.
public struct HandlerRegistration: Sendable, Hashable {
  /// The identifier that the handler serves.
  public var identifier: TaskIdentifier
  /// The kind of work.
  public var kind: TaskKind
  /// A shorter budget than the kind's default; nil for the default.
  public var budget: Duration?
  /// The maximum number of concurrent runs, 1 to ``Limits/concurrentRuns``.
  public var maxConcurrentRuns: Int
  /// The name that people see.
  public var displayName: String?
  /// The plugin's own version.
  public var version: String?
  /// How to call a typed handler's function; nil for a handler that takes its run and reads the payload itself.
  public var typed: TypedContract?

  /// Creates a registration.
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
