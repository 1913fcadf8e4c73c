public import TaskModel

/// A host's answer to a ``WorkerCall``.
public enum CallAnswer: Sendable, Hashable {
  /// It was done, or is permitted.
  case done
  /// A value; nil: there is none. At most ``TaskModel/Limits/stateValueBytes``.
  case bytes([UInt8]?)
  /// A text; at most ``LinkFormat/settingsBytes``.
  case text(String)
  /// What came of a submission.
  case submission(Submission)
  /// Some pending requests.
  case pending(PendingPage)
  /// How many were changed; 0 or more.
  case count(Int)
  /// Why it was not done.
  case failure(CallFailure)
}
