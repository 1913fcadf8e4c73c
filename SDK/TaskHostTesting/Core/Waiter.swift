import TaskHostSDK

/// A test that waits: what lets time pass.
struct Waiter {
  enum Target {
    /// Until the clock has come to that moment and the handlers have settled there.
    case moment(Duration)
    /// Until the run has ended.
    case end(RunState)
    /// Until more runs than that have ended, or the clock has come to that moment; nil: no run is live.
    case runEnd(Int, by: Duration?)
    /// Until the run's report is as wanted, while it is live.
    case report(RunState, (RunReport) -> Bool)
  }

  let id: UInt64
  let target: Target
  /// What is waited for, for people.
  let what: String
  /// Whether time passes for it while handlers are at work.
  let ignoresHandlers: Bool
  let continuation: CheckedContinuation<Void, any Error>
  /// Whether the report was as wanted.
  var isSatisfied = false
}
