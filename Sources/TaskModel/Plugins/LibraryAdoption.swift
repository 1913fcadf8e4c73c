/// How a library written without taskhost becomes a plugin: the content of a manifest `NAME.task.toml`, without the library's path.
public struct LibraryAdoption: Sendable, Hashable {
  /// The identifier that the handler serves.
  public var identifier: TaskIdentifier
  /// The kind of work.
  public var kind: TaskKind
  /// The symbol of the handler's function.
  public var symbol: String
  /// How the host calls the function.
  public var typed: TypedContract

  /// Creates an adoption.
  public init(identifier: TaskIdentifier, kind: TaskKind, symbol: String, typed: TypedContract) {
    self.identifier = identifier
    self.kind = kind
    self.symbol = symbol
    self.typed = typed
  }

  /// The registration that the launch makes.
  public var registration: HandlerRegistration { HandlerRegistration(identifier: identifier, kind: kind, typed: typed) }
}
