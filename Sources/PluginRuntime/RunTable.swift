import CTaskHost
import Synchronization

/// Gives live runs the handles that plugins know them by, and finds them again.
///
/// A handle is 16 bits of slot and 48 bits of a counter that never comes back, so one that is over finds nothing.
final class RunTable: Sendable {
  /// The process has one: C functions have nothing but the handle to go by.
  static let shared = RunTable()

  private struct Entries {
    var runs: [LiveRun?] = []
    var free: [Int] = []
    var counter: UInt64 = 0
    /// Closed by force while their handlers go on.
    var forced: [taskhost_task: LiveRun] = [:]
  }

  private let entries = Mutex(Entries())

  /// Enters `run` and sets its handle. False: 65,536 runs are live.
  func enter(_ run: LiveRun) -> Bool {
    entries.withLock { entries in
      let slot: Int
      if let free = entries.free.popLast() {
        slot = free
      } else {
        guard entries.runs.count < 1 << 16 else { return false }
        slot = entries.runs.count
        entries.runs.append(nil)
      }
      entries.counter = (entries.counter + 1) & 0xFFFF_FFFF_FFFF
      if entries.counter == 0 { entries.counter = 1 }
      run.handle = UInt64(slot) << 48 | entries.counter
      entries.runs[slot] = run
      return true
    }
  }

  /// The live run that `handle` names.
  func find(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    let slot = Int(handle >> 48)
    let found = entries.withLock { entries in
      slot < entries.runs.count ? entries.runs[slot] : nil
    }
    guard let found, found.handle == handle else { throw .stale }
    return found
  }

  /// The run that `handle` names, also when it was closed by force and its handler goes on.
  func findWithForced(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    if let forced = entries.withLock({ $0.forced.isEmpty ? nil : $0.forced[handle] }) { return forced }
    return try find(handle)
  }

  /// Makes the run's handle stale. `stillRunning`: it was closed by force; ``forget(_:)`` follows when its handler returns.
  func leave(_ run: LiveRun, stillRunning: Bool) {
    entries.withLock { entries in
      let slot = Int(run.handle >> 48)
      guard slot < entries.runs.count, entries.runs[slot] === run else { return }
      entries.runs[slot] = nil
      entries.free.append(slot)
      if stillRunning { entries.forced[run.handle] = run }
    }
  }

  /// The handler of a run that was closed by force has returned.
  func forget(_ run: LiveRun) {
    _ = entries.withLock { $0.forced.removeValue(forKey: run.handle) }
  }
}
