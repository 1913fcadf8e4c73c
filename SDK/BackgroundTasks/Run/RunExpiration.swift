import Dispatch
import TaskHostSDK

/// Expires a run when the host says so, or when the budget that this module keeps is over. Created and cleared on the run's thread.
struct RunExpiration {
  private let host: Expiration
  private let timer: (any DispatchSourceTimer)?

  init(_ run: TaskRun, notBegun: String, budget: Duration?) {
    host = Expiration(run.channel.run) { run.expire(.host($0), notBegun: notBegun) }
    timer = budget.map { budget in
      // Not `asyncAfter`, which would keep the run alive until its time has come, even if it is cancelled.
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(deadline: .now() + budget.dispatchInterval)
      timer.setEventHandler { run.expire(.refresh(budget), notBegun: notBegun) }
      timer.resume()
      return timer
    }
  }

  /// Withdraws both and waits for a call of the host in progress. The handler of the run returns only after this.
  func clear() {
    timer?.cancel()
    host.clear()
  }
}
