import CTaskHost
import FoundationEssentials

/// What the patterns need of a run, whatever its payload.
extension RunHandle {
  /// As ``TaskContext/remaining``.
  var remaining: Duration {
    let milliseconds = functions.pointee.remaining_ms(task)
    return milliseconds == .min ? .zero : .milliseconds(milliseconds)
  }

  /// As ``TaskContext/now``.
  var now: Date { Date(unixMilliseconds: functions.pointee.now_unix_ms(task)) }

  /// As ``TaskContext/progress(_:of:)``.
  func progress(_ completed: Int, of total: Int) {
    _ = functions.pointee.progress(task, UInt64(max(completed, 0)), UInt64(max(total, 0)))
  }

  /// As ``TaskContext/submit(_:)``.
  func submit(_ request: TaskRequest) throws(TaskHostError) -> Submission {
    var submission = Submission.emptyCValue
    try check(try request.withCValue { functions.pointee.submit(task, $0, &submission) })
    return Submission(submission)
  }
}

extension Date {
  /// Milliseconds since 1970, the fraction rounded; of a date beyond all that is the host's, zero.
  var unixMilliseconds: Int64 { Int64(exactly: (timeIntervalSince1970 * 1000).rounded()) ?? 0 }
}

extension Duration {
  /// In seconds, as `Date` counts.
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
