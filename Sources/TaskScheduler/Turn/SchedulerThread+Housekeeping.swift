import HostThreads
import TaskModel

// Draining, old records, memory.

extension SchedulerThread {
  func endDrainIfDue() {
    guard core.isDraining else { return }
    if let deadline = drainDeadline, clock.monotonicTime >= deadline {
      drainDeadline = nil
      for run in core.live.keys { launcher.expire(run, reason: .draining) }
    }
    guard
      (core.live.isEmpty && core.claims.isEmpty && engine.unrecorded.isEmpty) || (drainDeadline == nil && everyLiveRunHasEnded)
        || nothingCanBeRecorded
    else { return }
    for completion in drained { completion() }
    drained.removeAll()
    drainDeadline = nil
  }

  /// Whether nothing but the store is waited for. A host that leaves then finds those runs lost when it is back.
  private var everyLiveRunHasEnded: Bool {
    let ended = engine.unrecorded.compactMap { if case .ended(let run, _, _) = $0 { run } else { nil } }
    return Set(core.live.keys).isSubset(of: ended)
  }

  /// Whether the store's files are not those any more that it has open, and nothing runs whose end could be waited for: a longer wait records
  /// nothing. A store that is full or locked may work again.
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

  /// Old runs are removed a few at a time, while nobody waits: after many have ended, and when some ended a while ago.
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

  /// Changes of a turn from which on it leaves memory behind that is worth giving back.
  private static let largeTurn = 1000

  /// A large submission, its answer and what the store kept to undo it are garbage soon; so are requests that ended without a run.
  func noteSize(of turn: EngineTurn) {
    let gone = turn.liveSteps.count { $0.step < 0 }
    endedSincePruning += max(0, gone - turn.ended.count)
    if turn.changes >= Self.largeTurn { trimAt = clock.monotonicTime + .seconds(1) }
    restAt = clock.monotonicTime + scheduler.rest
  }

  /// The allocator keeps what was freed; an idle host should not.
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
