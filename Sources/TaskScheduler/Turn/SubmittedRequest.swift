public import TaskModel

/// What observers learn of a submission.
public struct SubmittedRequest: Sendable {
  /// The request.
  public let id: RequestID
  /// Whose it is.
  public let identifier: TaskIdentifier
  /// The trace that it was submitted in; nil for none.
  public let traceparent: TraceParent?
  /// When it was submitted.
  public let time: WallTime
}
