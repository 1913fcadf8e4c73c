import HostThreads
import HostWatches
import Logging
import TaskModel

/// Wakes the machine for requests that ask for it, where that is possible.
final class MachineWaking: Sendable {
  private enum State {
    case untried
    case works(WakeTimer)
    case failed
  }

  private let state = Guarded(State.untried)
  private let log: Logger
  private let failed: @Sendable (String) -> Void

  /// - Parameter failed: Called at most once, with a clause: the machine cannot be woken.
  init(log: Logger, failed: @escaping @Sendable (String) -> Void) {
    self.log = log
    self.failed = failed
  }

  /// Sets when the machine must be awake; nil: never. Returns at once.
  func set(_ time: WallTime?) {
    use { (timer) throws(WakeTimer.Failure) in try timer.set(time?.unixMilliseconds) }
  }

  /// The calendar was set: the time from now to then is another.
  func clockChanged() {
    if case .untried = state.withLock({ $0 }) { return }
    use { (timer) throws(WakeTimer.Failure) in try timer.rearm() }
  }

  private func use(_ body: (WakeTimer) throws(WakeTimer.Failure) -> Void) {
    let trouble: String? = state.withLock { state in
      do throws(WakeTimer.Failure) {
        switch state {
        case .failed: return nil
        case .works(let timer): try body(timer)
        case .untried:
          let timer = try WakeTimer()
          state = .works(timer)
          try body(timer)
        }
        return nil
      } catch {
        state = .failed
        return error.description
      }
    }
    guard let trouble else { return }
    log.warning("a request asks to wake the machine, which is not possible: \(trouble); it runs when the machine is awake")
    failed("it cannot be woken: \(trouble)")
  }
}
