/// Names a run together with whose it is.
public struct RunReference: Sendable, Hashable {
  /// The run.
  public var run: RunID
  /// Its request.
  public var request: RequestID
  /// Whose handler.
  public var identifier: TaskIdentifier

  /// A reference as given.
  public init(run: RunID, request: RequestID, identifier: TaskIdentifier) {
    self.run = run
    self.request = request
    self.identifier = identifier
  }
}
