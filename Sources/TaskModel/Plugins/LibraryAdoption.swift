/// How a library that knows nothing of taskhost becomes a plugin: what a manifest `NAME.task.toml` says besides the library's path.
public struct LibraryAdoption: Sendable, Hashable {
  /// The identifier that its handler serves.
  public var identifier: TaskIdentifier
  /// What sort of work.
  public var kind: TaskKind
  /// The function that is the handler.
  public var symbol: String
  /// How it is called.
  public var typed: TypedContract

  /// An adoption as given.
  public init(identifier: TaskIdentifier, kind: TaskKind, symbol: String, typed: TypedContract) {
    self.identifier = identifier
    self.kind = kind
    self.symbol = symbol
    self.typed = typed
  }

  /// What launching it registers.
  public var registration: HandlerRegistration { HandlerRegistration(identifier: identifier, kind: kind, typed: typed) }
}
