import CTaskHost
import TaskHostSDK

/// A request as a test host keeps it.
struct RequestRecord {
  /// When a request may run: a time that somebody named follows the wall clock, a delay does not.
  enum Due {
    case wall(unixMilliseconds: Int64)
    case clock(Duration)
  }

  let id: String
  var submitted: SubmittedRequest
  var state: HostedRequest.State
  var due: Due
  var attemptsSpent = 0
  var checkpoint: [UInt8]?
  var runs: [RunReport] = []
  /// The request it waits for.
  var blockedBy: String?
  /// Its name, while it holds it.
  var heldKey: String?

  var attempt: Int { attemptsSpent + 1 }
  var isLive: Bool { state == .blocked || state == .pending || state == .running }
}

/// What a submission is answered.
struct SubmissionAnswer {
  let id: String
  let disposition: UInt32
  let nextStartUnixMilliseconds: Int64
}

/// A pending request as a plugin is shown it.
struct PendingRequest {
  let id: String
  let identifier: String
  let payload: [UInt8]
  let conditions: UInt32
  let earliestBeginUnixMilliseconds: Int64
  let nextStartUnixMilliseconds: Int64
  let attempt: UInt32
  let kind: taskhost_kind
}
