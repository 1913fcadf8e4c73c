import FoundationEssentials

/// One pass of one run over a sequence: the loop behind ``TaskContext/forEach(_:named:by:budget:checkpoint:body:)``.
struct CheckpointedIteration<Element> {
  private let run: RunHandle
  private let name: String
  private let interval: CheckpointInterval
  private let total: Int
  private var tracker: any ElementTracker<Element>
  private var meter: WorkMeter
  private var completed = 0
  private var skipped = 0
  private var isInBody = false
  /// Whether the checkpoint has a place, and how many elements of this run it covers.
  private var hasPlace = false
  private var recorded = 0
  private var recordedAt: Date
  private var reportedAt: Date

  init(
    _ run: RunHandle, named name: String, by identity: ElementIdentity<Element>, budget: WorkBudget,
    checkpoint interval: CheckpointInterval,
    total: Int
  ) throws {
    self.run = run
    self.name = name
    self.interval = interval
    self.total = total
    tracker = identity.makeTracker()
    meter = WorkMeter(budget, run)
    (recordedAt, reportedAt) = (run.now, run.now)
    guard let bytes = try Checkpoint(run: run).load(), !bytes.isEmpty else { return }
    hasPlace = true
    // A checkpoint of another iteration or of the plugin itself does not apply: start at the beginning.
    guard let place = try? JSON.decode(IterationPlace.self, from: bytes), place.iteration == name else { return }
    tracker.resume(place)
  }

  /// Works until the sequence ends or a limit is reached.
  nonisolated(nonsending) mutating func go(
    _ next: nonisolated(nonsending) () async throws -> Element?,
    _ body: nonisolated(nonsending) (Element, inout WorkMeter) async throws -> Void
  ) async throws -> IterationResult {
    do {
      while let element = try await next() {
        if try tracker.isDone(element) {
          skipped += 1
          if skipped.isMultiple(of: 1024), isExpired { return try stop(.expired) }
          continue
        }
        if let limit = limitBeforeElement() { return try stop(limit) }
        isInBody = true
        try await body(element, &meter)
        isInBody = false
        tracker.complete(element)
        completed += 1
        meter.spend(items: 1)
        try recordIfDue()
      }
    } catch let error as CancellationError {
      if isInBody { meter.noteUnfinished() }
      guard isExpired else { throw error }
      return try stop(.expired)
    } catch {
      if isInBody { meter.spend(failed: 1) }
      // Keeps the original error: without the place, only the elements since the last checkpoint are repeated.
      try? record()
      throw error
    }
    // Many asynchronous sequences end when their task is cancelled.
    if isExpired { return try stop(.expired) }
    report()
    // A repeating request keeps its checkpoint; its next occurrence must start at the beginning.
    if hasPlace { try Checkpoint(run: run).save([]) }
    return IterationResult(completed: completed, skipped: skipped, limit: nil)
  }

  private var isExpired: Bool { Task.isCancelled || run.isExpired }

  /// Lets every run that has not expired process at least one element, so that each makes progress under any budget.
  private mutating func limitBeforeElement() -> WorkLimit? {
    if completed == 0 { return isExpired ? .expired : nil }
    return meter.reachedLimit()
  }

  private mutating func stop(_ limit: WorkLimit) throws -> IterationResult {
    report()
    try record()
    return IterationResult(completed: completed, skipped: skipped, limit: limit)
  }

  private mutating func recordIfDue() throws {
    let now = run.now
    if now.timeIntervalSince(reportedAt) >= 0.1 || now < reportedAt { report() }
    let isDue =
      completed - recorded >= max(interval.items, 1) || now < recordedAt || .seconds(now.timeIntervalSince(recordedAt)) >= interval.time
    if isDue {
      report()
      try record()
    }
  }

  /// Writes the checkpoint if there is progress.
  private mutating func record() throws {
    guard completed > recorded else { return }
    var place = IterationPlace(iteration: name)
    try tracker.record(&place)
    try Checkpoint(run: run).setValue(place)
    hasPlace = true
    recorded = completed
    recordedAt = run.now
  }

  private mutating func report() {
    reportedAt = run.now
    run.progress(skipped + completed, of: total)
  }
}
