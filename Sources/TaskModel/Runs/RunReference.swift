/// Names a run with its request and its task.
public struct RunReference: Sendable, Hashable {
  /// The run.
  public var run: RunID
  /// Its request.
  public var request: RequestID
  /// The task identifier.
  public var identifier: TaskIdentifier

  /// Creates a reference.
  public init(run: RunID, request: RequestID, identifier: TaskIdentifier) {
    self.run = run
    self.request = request
    self.identifier = identifier
  }
}
