import CTaskHost
import HostThreads
import TaskModel

/// Finds the open launch that a handle names.
enum LaunchTable {
  private struct Entries {
    var sessions: [taskhost_launch: LaunchSession] = [:]
    /// Far from small numbers, so that an uninitialised variable does not name a launch.
    var last: taskhost_launch = 0x5441_534B_0000_0000
  }

  private static let entries = Guarded(Entries())

  static func open(_ session: LaunchSession) -> taskhost_launch {
    entries.withLock { entries in
      entries.last += 1
      entries.sessions[entries.last] = session
      return entries.last
    }
  }

  static func close(_ handle: taskhost_launch) { _ = entries.withLock { $0.sessions.removeValue(forKey: handle) } }

  static func find(_ handle: taskhost_launch) throws(CallFailure) -> LaunchSession {
    guard let session = entries.withLock({ $0.sessions[handle] }) else { throw .launchIsOver }
    return session
  }
}
