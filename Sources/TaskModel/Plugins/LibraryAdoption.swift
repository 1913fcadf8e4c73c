/// How a library that knows nothing of taskhost becomes a plugin: the content of a manifest `NAME.task.toml`, without the library's path.
public struct LibraryAdoption: Sendable, Hashable {
  /// The identifier that its handler serves.
  public var identifier: TaskIdentifier
  /// The kind of work.
  public var kind: TaskKind
  /// The handler's function.
  public var symbol: String
  /// How it is called.
  public var typed: TypedContract

  /// Creates an adoption.
  public init(identifier: TaskIdentifier, kind: TaskKind, symbol: String, typed: TypedContract) {
    self.identifier = identifier
    self.kind = kind
    self.symbol = symbol
    self.typed = typed
  }

  /// The registration that its launch makes.
  public var registration: HandlerRegistration { HandlerRegistration(identifier: identifier, kind: kind, typed: typed) }
}
