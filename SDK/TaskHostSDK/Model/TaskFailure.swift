/// Thrown by ``BackgroundTask/run(_:)`` to choose the outcome and the operator's message.
public struct TaskFailure: Error, Sendable, CustomStringConvertible {
  /// The outcome: ``TaskResult/failure`` or ``TaskResult/retry(after:)``.
  public let result: TaskResult

  /// A sentence for the operator.
  public let message: String

  /// A permanent failure: no retry, and dependants fail.
  public static func permanent(_ message: String) -> Self {
    TaskFailure(result: .failure, message: message)
  }

  /// A temporary failure: costs one attempt; the next run starts `retryAfter` after the run's end at the earliest (`nil`: the host's
  /// backoff).
  public static func temporary(_ message: String, retryAfter: Duration? = nil) -> Self {
    TaskFailure(result: .retry(after: retryAfter), message: message)
  }

  /// The message.
  public var description: String { message }
}
