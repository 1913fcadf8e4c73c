extension TaskContext {
  /// Does something for each element of a collection, over as many runs as it takes: records where it is in the request's checkpoint, stops
  /// when the budget is spent, the run is about to expire or has expired, and goes on from there in the next run of the request.
  ///
  /// ```swift
  /// let result = try await task.forEach(photos, by: .key(\.name), budget: WorkBudget(bytes: 50_000_000)) { photo, meter in
  ///   meter.spend(bytes: try await index(photo))
  /// }
  /// task.setMessage("\(result)")
  /// return result.taskResult
  /// ```
  ///
  /// **At least once.** An element that was completed after the last checkpoint is shown to `body` again when the process or the machine
  /// dies: `body` must be idempotent. One element is done in every run that has not expired when the first is due, whatever the budget is.
  ///
  /// **Progress** is reported as elements passed of the count. **The checkpoint** of the request belongs to the iteration; it is emptied when
  /// the sequence has come to its end. A plugin that iterates more than one sequence for a request gives each a name: where the checkpoint
  /// is another's, an iteration starts at the beginning.
  ///
  /// - Parameters:
  ///   - elements: What there is to do, made anew by every run.
  ///   - name: Names the iteration within the plugin.
  ///   - identity: How a later run finds its place again.
  ///   - budget: What one run may take.
  ///   - interval: How often the place is recorded.
  ///   - body: Called for one element after the other, on the run's thread; counts the bytes it spends. When it throws, what was completed
  ///     before is recorded and the error is passed on, so a retry begins with the element that failed; only a `CancellationError` after
  ///     expiration is an end of the run as any other.
  /// - Returns: What was done, and ``IterationResult/taskResult`` to return from the run.
  /// - Throws: What `body` throws; ``TaskHostError`` where the checkpoint cannot be read or written (`unavailable`: the disk is full; what was
  ///   done since the last checkpoint will be done again); ``TaskFailure`` for a sequence that is not in the order of its keys.
  nonisolated(nonsending) public func forEach<Elements: Collection>(
    _ elements: Elements, named name: String = "items", by identity: ElementIdentity<Elements.Element> = .position(),
    budget: WorkBudget = WorkBudget(), checkpoint interval: CheckpointInterval = CheckpointInterval(),
    body: nonisolated(nonsending) (Elements.Element, inout WorkMeter) async throws -> Void
  ) async throws -> IterationResult {
    try await forEach(
      elements, named: name, by: identity, budget: budget, checkpoint: interval, total: elements.count, body: body)
  }

  /// Does something for each element of a sequence: see ``forEach(_:named:by:budget:checkpoint:body:)``.
  ///
  /// `total` is the number of elements in all, for people; 0: unknown.
  ///
  /// - Throws: As there.
  nonisolated(nonsending) public func forEach<Elements: Sequence>(
    _ elements: Elements, named name: String = "items", by identity: ElementIdentity<Elements.Element> = .position(),
    budget: WorkBudget = WorkBudget(), checkpoint interval: CheckpointInterval = CheckpointInterval(), total: Int = 0,
    body: nonisolated(nonsending) (Elements.Element, inout WorkMeter) async throws -> Void
  ) async throws -> IterationResult {
    var iteration = try CheckpointedIteration(run, named: name, by: identity, budget: budget, checkpoint: interval, total: total)
    var iterator = elements.makeIterator()
    return try await iteration.go({ iterator.next() }, body)
  }

  /// Does something for each element of an asynchronous sequence, which every run makes anew from its beginning: see
  /// ``forEach(_:named:by:budget:checkpoint:body:)``.
  ///
  /// `total` is the number of elements in all, for people; 0: unknown.
  ///
  /// - Throws: As there, and what the sequence throws.
  nonisolated(nonsending) public func forEach<Elements: AsyncSequence>(
    _ elements: Elements, named name: String = "items", by identity: ElementIdentity<Elements.Element> = .position(),
    budget: WorkBudget = WorkBudget(), checkpoint interval: CheckpointInterval = CheckpointInterval(), total: Int = 0,
    body: nonisolated(nonsending) (Elements.Element, inout WorkMeter) async throws -> Void
  ) async throws -> IterationResult {
    var iteration = try CheckpointedIteration(run, named: name, by: identity, budget: budget, checkpoint: interval, total: total)
    var iterator = elements.makeAsyncIterator()
    return try await iteration.go({ try await iterator.next(isolation: #isolation) }, body)
  }
}
