import HostThreads
import TaskModel

// Draining, pruning and giving back memory.

extension SchedulerThread {
  func endDrainIfDue() {
    guard core.isDraining else { return }
    if let deadline = drainDeadline, clock.monotonicTime >= deadline {
      drainDeadline = nil
      expireForDrain(core.live.keys)
    }
    guard
      (core.live.isEmpty && core.claims.isEmpty && engine.unrecorded.isEmpty) || (drainDeadline == nil && everyLiveRunHasEnded)
        || nothingCanBeRecorded
    else { return }
    for completion in drained { completion() }
    drained.removeAll()
    drainDeadline = nil
  }

  /// Asks live runs to stop because the drain's time is over, but not those that hold assertions: each of these is asked once it holds none.
  func expireForDrain(_ runs: some Sequence<RunID>) {
    for run in runs where !spared.contains(run) { launcher.expire(run, reason: .draining) }
  }

  /// Whether the drain waits only for the store. If the host process exits now, the next one finds those runs lost.
  private var everyLiveRunHasEnded: Bool {
    let ended = engine.unrecorded.compactMap { if case .ended(let run, _, _) = $0 { run } else { nil } }
    return Set(core.live.keys).isSubset(of: ended)
  }

  /// Whether the open store files were replaced or cut and every run is over: waiting longer would record nothing. A store that is full or
  /// locked may work again.
  private var nothingCanBeRecorded: Bool {
    switch core.storeTrouble {
    case .replaced?, .cut?: break
    default: return false
    }
    let over = engine.unrecorded.compactMap { input in
      switch input {
      case .ended(let run, _, _), .withdrawn(let run): run
      default: nil
      }
    }
    return Set(core.live.keys).union(core.claims.keys).isSubset(of: over)
  }

  /// Removes old runs, a few at a time while nobody waits: after many runs have ended, and some time after fewer have.
  func pruneIfIdle() {
    if endedSincePruning >= 5000 || (endedSincePruning > 0 && clock.monotonicTime - prunedAt > .seconds(600)) { isPruning = true }
    guard isPruning, retryAt == nil, scheduler.isIdle, !core.mayDispatch(now: clock.wallTime) else { return }
    endedSincePruning = 0
    prunedAt = clock.monotonicTime
    let horizon = clock.wallTime + (.zero - core.policy.historyAge)
    do {
      isPruning = try store.commit { transaction in
        let isMoreHistory = try transaction.prune(before: horizon, keeping: core.policy.historyCount, limit: 500)
        return try transaction.pruneLanes(limit: 500) || isMoreHistory
      }
    } catch {
      isPruning = false
    }
  }

  /// The number of changes from which a turn leaves enough memory to give back.
  private static let largeTurn = 1000

  /// Schedules what follows a turn: giving back memory after a large one, and pruning of requests that ended without a run.
  func noteSize(of turn: EngineTurn) {
    let gone = turn.liveSteps.count { $0.step < 0 }
    endedSincePruning += max(0, gone - turn.ended.count)
    if turn.changes >= Self.largeTurn { trimAt = clock.monotonicTime + .seconds(1) }
    restAt = clock.monotonicTime + scheduler.rest
  }

  /// Gives memory back when it is time: the allocator keeps freed memory, which an idle host should not.
  func trimIfDue() {
    let now = clock.monotonicTime
    if let due = restAt, now >= due {
      restAt = nil
      store.giveBackMemory()
      trimAt = now
    }
    guard let due = trimAt, now >= due else { return }
    trimAt = nil
    FreedMemory.giveBack()
  }
}
