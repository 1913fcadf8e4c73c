import CTaskHost
import HostThreads
import TaskModel

/// Gives live runs the handles that plugins know them by, and finds them again.
///
/// A handle has 16 bits of slot and 48 bits of a counter that never repeats, so a stale handle finds nothing.
final class RunTable: Sendable {
  /// One for the process: C functions have only the handle.
  static let shared = RunTable()

  private struct Entries {
    var runs: [LiveRun?] = []
    var free: [Int] = []
    /// Far from small numbers, so that an uninitialised variable does not name a run, especially not another plugin's.
    var counter: UInt64 = 0x1000_0000_0000
    /// Runs that were closed by force while their handlers still run.
    var forced: [taskhost_task: LiveRun] = [:]
    /// Runs that expired and returned: their submissions are accepted until their grace is over.
    var graced: [taskhost_task: (run: LiveRun, end: MonotonicTime)] = [:]
  }

  private let entries = Guarded(Entries())
  /// A handle that is off by one names no run, also none that is kept for its submissions.
  private static let step: UInt64 = 3
  /// The maximum number of runs kept for their submissions.
  private static let gracedLimit = 1024

  /// Adds `run` and sets its handle. Returns false if 65,536 runs are live.
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
      entries.counter = (entries.counter + Self.step) & 0xFFFF_FFFF_FFFF
      if entries.counter == 0 { entries.counter = 1 }
      run.handle = UInt64(slot) << 48 | entries.counter
      entries.runs[slot] = run
      return true
    }
  }

  /// The run that `handle` names, if it is live this moment.
  func live(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    let run = try find(handle)
    try run.whileLive { _ in }
    return run
  }

  /// The run that `handle` names; it may be over before the caller looks.
  func find(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    let slot = Int(handle >> 48)
    let found = entries.withLock { entries in
      slot < entries.runs.count ? entries.runs[slot] : nil
    }
    guard let found, found.handle == handle else { throw .stale }
    found.clock.enters(found)
    return found
  }

  /// The run that `handle` names, even if it was closed by force and its handler still runs.
  ///
  /// Searches both tables under one lock, so that a run that moves between them is found.
  func findWithForced(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    let run = try lookUp(handle)
    run.clock.enters(run)
    return run
  }

  /// As ``findWithForced(_:)``, for the host: the run's clock is not told.
  func lookUp(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    let slot = Int(handle >> 48)
    let found = entries.withLock { entries -> LiveRun? in
      if let run = slot < entries.runs.count ? entries.runs[slot] : nil, run.handle == handle { return run }
      return entries.forced[handle]
    }
    guard let found else { throw .stale }
    return found
  }

  /// The run that `handle` names, if it may submit and cancel requests: it is live, or it expired and returned and its grace is not over.
  func forRequests(_ handle: taskhost_task) throws(CallFailure) -> LiveRun {
    let slot = Int(handle >> 48)
    let (run, end) = entries.withLock { entries -> (LiveRun?, MonotonicTime?) in
      if let run = slot < entries.runs.count ? entries.runs[slot] : nil, run.handle == handle { return (run, nil) }
      return (entries.graced[handle]?.run, entries.graced[handle]?.end)
    }
    guard let run else { throw .stale }
    run.clock.enters(run)
    // A run that is just leaving the table is asked for its grace itself.
    guard let end = end ?? run.ask(\.endOfGrace) else {
      try run.whileLive { _ in }
      return run
    }
    guard run.clock.now < end else { throw .stale }
    return run
  }

  /// Makes the run's handle stale, except for the requests of one that has expired. `stillRunning`: it was closed by force; ``forget(_:)``
  /// follows when its handler returns.
  func leave(_ run: LiveRun, stillRunning: Bool) {
    let end = stillRunning ? nil : run.ask(\.endOfGrace)
    entries.withLock { entries in
      let slot = Int(run.handle >> 48)
      guard slot < entries.runs.count, entries.runs[slot] === run else { return }
      entries.runs[slot] = nil
      entries.free.append(slot)
      if stillRunning { entries.forced[run.handle] = run }
      if !entries.graced.isEmpty { entries.graced = entries.graced.filter { $0.value.end > $0.value.run.clock.now } }
      if let end, end > run.clock.now, entries.graced.count < Self.gracedLimit { entries.graced[run.handle] = (run, end) }
    }
  }

  /// Makes the handles of runs stale that are kept only for their requests.
  func forgetGraced(where isMeant: (LiveRun) -> Bool = { _ in true }) {
    entries.withLock { $0.graced = $0.graced.filter { !isMeant($0.value.run) } }
  }

  /// Called when the handler of a run that was closed by force has returned.
  func forget(_ run: LiveRun) {
    _ = entries.withLock { $0.forced.removeValue(forKey: run.handle) }
  }
}
