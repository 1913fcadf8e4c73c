import TaskHostSDK

/// A waiting test, which lets time pass.
struct Waiter {
  enum Target {
    /// Until the clock reaches that moment and the handlers have settled there.
    case moment(Duration)
    case end(RunState)
    /// Until more runs than that have ended, or the clock reaches that moment; nil: no time limit.
    case runEnd(Int, by: Duration?)
    /// Until the run's report satisfies the condition, while the run is live.
    case report(RunState, (RunReport) -> Bool)
  }

  let id: UInt64
  let target: Target
  /// The awaited event, for messages.
  let what: String
  /// Whether time passes while handlers work.
  let ignoresHandlers: Bool
  let continuation: CheckedContinuation<Void, any Error>
  var isSatisfied = false
}
