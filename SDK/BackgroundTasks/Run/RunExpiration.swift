import Dispatch
import TaskHostSDK

/// Expires a run when the host says so or when this module's own budget ends. Created and cleared on the run's thread.
struct RunExpiration {
  private let host: Expiration
  private let timer: (any DispatchSourceTimer)?

  init(_ run: TaskRun, notBegun: String, budget: Duration?) {
    host = Expiration(run.channel.run) { run.expire(.host($0), notBegun: notBegun) }
    timer = budget.map { budget in
      // `asyncAfter` would keep the run alive until its time comes, even if cancelled.
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(deadline: .now() + budget.dispatchInterval)
      timer.setEventHandler { run.expire(.refresh(budget), notBegun: notBegun) }
      timer.resume()
      return timer
    }
  }

  /// Withdraws both and waits for a host call in progress. The run's handler must return only after this.
  func clear() {
    timer?.cancel()
    host.clear()
  }
}
