import Glibc
import HostThreads
public import TaskModel

/// Loads a plugin into this process and calls its launch function, inside the launch budget.
///
/// The code runs on its own thread or on the process's main thread. When the budget is over, that thread is abandoned, because a process
/// cannot end one of its threads.
public enum PluginImage {
  /// Plugins launch one at a time. A launch waits for its turn before its budget begins.
  private static let turn = Monitor()

  /// Loads the file and calls its launch function; calls it again if it asked for settings before the host knew its identifier.
  ///
  /// - Parameter budget: How long loading and launching may take together.
  public static func launch(_ order: LaunchOrder, budget: Duration) throws(LaunchFailure) -> LaunchedPlugin {
    try launch([order], budget: budget)[0].get()
  }

  /// Launches plugins in sequence, each within the budget, and waits for them all.
  ///
  /// - Returns: An outcome for each, in their order.
  public static func launch(_ orders: [LaunchOrder], budget: Duration) -> [Result<LaunchedPlugin, LaunchFailure>] {
    turn.locked { LaunchBatch(orders.map(LaunchAttempt.init), budget: budget).outcomes() }
  }

  /// Loads the file and calls its launch function on the calling thread, which is the process's first. Libdispatch and Foundation take the
  /// thread that loads them for the main thread: only there can the plugin's main queue be served as its code expects.
  ///
  /// - Parameters:
  ///   - budget: How long loading and launching may take together.
  ///   - late: Called on another thread when the budget is over; this function does not return then.
  public static func launchOnMainThread(
    _ order: LaunchOrder, budget: Duration, late: @escaping @Sendable (LaunchFailure) -> Void
  ) throws(LaunchFailure) -> LaunchedPlugin {
    let attempt = LaunchAttempt(order)
    let watch = LaunchWatch()
    do {
      try HostThread.start("launch-watch") {
        guard !watch.ends(by: SystemClock.now + budget) else { return }
        late(attempt.abandon(budget))
      }
    } catch { throw LaunchFailure(step: .load, observed: "\(error)") }
    let result = attempt.perform()
    guard watch.end() else { while true { pause() } }
    return try result.get()
  }

  /// Calls each hook on its own thread and waits at most 5 s for all to return.
  ///
  /// - Returns: The number of hooks that have not returned.
  public static func shutDown(_ hooks: [ShutdownHook]) -> Int { shutDown(hooks, limit: .seconds(5)) }

  /// As the public one, with another limit.
  static func shutDown(_ hooks: [ShutdownHook], limit: Duration) -> Int {
    let left = Guarded(hooks.count)
    for hook in hooks {
      let call: @Sendable () -> Void = {
        hook.function()
        left.withLock { $0 -= 1 }
        left.signal()
      }
      do { try HostThread.start("shutdown", call) } catch { left.withLock { $0 -= 1 } }
    }
    _ = left.wait(until: SystemClock.now + limit) { (left) -> Int? in left == 0 ? 0 : nil }
    return left.withLock { $0 }
  }
}
