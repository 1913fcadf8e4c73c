public import TaskModel

/// A host's answer to a ``WorkerCall``.
public enum CallAnswer: Sendable, Hashable {
  /// The call was carried out, or is permitted.
  case done
  /// A value, at most ``TaskModel/Limits/stateValueBytes``; nil if there is none.
  case bytes([UInt8]?)
  /// A text of at most ``LinkFormat/settingsBytes``.
  case text(String)
  /// The result of a submission.
  case submission(Submission)
  /// A page of pending requests.
  case pending(PendingPage)
  /// A page of the answer to a question.
  case page(AnswerPage)
  /// A number of requests, at least 0.
  case count(Int)
  /// An execution assertion that the run holds now.
  case assertion(AssertionID)
  /// The reason why the call failed.
  case failure(CallFailure)
}
