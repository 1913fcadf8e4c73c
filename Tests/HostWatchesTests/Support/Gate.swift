import HostThreads
import TaskModel

/// Holds one thread until it is opened, and tells another that it is held.
final class Gate: Sendable {
  private let monitor = Monitor()
  private let state = Guarded((isHeld: false, isOpen: false))

  /// Waits until the gate is opened.
  func wait() {
    monitor.locked {
      state.withLock { $0.isHeld = true }
      monitor.broadcast()
      while !state.withLock({ $0.isOpen }) { monitor.wait() }
    }
  }

  /// Waits until somebody waits, 30 s at most.
  func arrived() {
    let deadline = SystemClock.now + .seconds(30)
    monitor.locked { while !state.withLock({ $0.isHeld }), monitor.wait(until: deadline) {} }
  }

  func open() {
    monitor.locked {
      state.withLock { $0.isOpen = true }
      monitor.broadcast()
    }
  }
}
