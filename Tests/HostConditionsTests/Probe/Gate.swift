import HostThreads

/// Holds whoever passes while it is closed.
final class Gate: Sendable {
  private let monitor = Monitor()
  private let isOpen = Guarded(true)

  func close() { isOpen.withLock { $0 = false } }

  func open() {
    monitor.locked { isOpen.withLock { $0 = true } }
    monitor.broadcast()
  }

  func pass() {
    monitor.locked { while !isOpen.withLock({ $0 }) { monitor.wait() } }
  }
}
