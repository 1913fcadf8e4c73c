/// The loop of ``CoalescedTriggers/drain(budget:checkpoint:body:)``: one pass over the changes that waited when it began, with the set as
/// its checkpoint.
struct DrainPass {
  private let changes: [(change: CoalescedChange, number: UInt64)]
  private let run: RunHandle
  private let store: CoalescedSetStore
  private let interval: CheckpointInterval
  private var meter: WorkMeter
  private var completed = 0
  private var isInBody = false
  /// The number of completed changes that have left the set.
  private var removed = 0
  private var removedAt: Int64

  init(
    _ changes: [(change: CoalescedChange, number: UInt64)], run: RunHandle, store: CoalescedSetStore, budget: WorkBudget,
    interval: CheckpointInterval
  ) {
    self.changes = changes
    self.run = run
    self.store = store
    self.interval = interval
    meter = WorkMeter(budget, run)
    removedAt = run.now.unixMilliseconds
  }

  /// - Returns: The result for the run if it had to stop; `nil` if all changes are processed and have left the set.
  nonisolated(nonsending) mutating func go(
    _ body: nonisolated(nonsending) (CoalescedChange, inout WorkMeter) async throws -> Void
  ) async throws -> TaskResult? {
    do {
      for change in changes {
        let limit = meter.reachedLimit()
        if let limit, completed > 0 || limit == .expired { return try stop() }
        isInBody = true
        try await body(change.change, &meter)
        isInBody = false
        completed += 1
        meter.spend(items: 1)
        run.progress(completed, of: changes.count)
        if isDue { try remove() }
      }
    } catch let error as CancellationError {
      if isInBody { meter.noteUnfinished() }
      guard Task.isCancelled || run.isExpired else { throw error }
      return try stop()
    } catch {
      if isInBody { meter.spend(failed: 1) }
      // Keeps the original error: changes that stay in the set are processed again.
      try? remove()
      throw error
    }
    try remove()
    return nil
  }

  private mutating func stop() throws -> TaskResult {
    try remove()
    return completed == 0 ? .retry() : .snooze()
  }

  private var isDue: Bool {
    let now = run.now.unixMilliseconds
    return completed - removed >= max(interval.items, 1) || now < removedAt || .milliseconds(now - removedAt) >= interval.time
  }

  private mutating func remove() throws {
    guard completed > removed else { return }
    try store.change { $0.remove(Array(changes[removed..<completed])) }
    removed = completed
    removedAt = run.now.unixMilliseconds
  }
}
