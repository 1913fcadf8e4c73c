extension TaskContext {
  /// Processes each element of a collection, over as many runs as necessary. It records its place in the request's checkpoint, stops when
  /// the budget is spent or the run is about to expire, and continues in the request's next run.
  ///
  /// ```swift
  /// let result = try await task.forEach(photos, by: .key(\.name), budget: WorkBudget(bytes: 50_000_000)) { photo, meter in
  ///   meter.spend(bytesIn: try await index(photo))
  /// }
  /// task.setMessage("\(result)")
  /// return result.taskResult
  /// ```
  ///
  /// **At least once.** If the process or the machine dies, elements completed after the last checkpoint are passed to `body` again, so it
  /// must be idempotent. Every run that has not expired before its first element processes at least one, whatever the budget.
  ///
  /// **Progress** is reported as elements passed, of the count. Elements that `body` completes or fails are counted for the run's record.
  /// **The checkpoint** of the request belongs to the iteration, which clears it
  /// at the end of the sequence. To iterate several sequences in a request, name each iteration: an iteration that finds the checkpoint of
  /// another starts at the beginning.
  ///
  /// - Parameters:
  ///   - elements: The elements, created again by every run.
  ///   - name: Names the iteration within the plugin.
  ///   - identity: How a later run finds its place.
  ///   - budget: The limits of one run.
  ///   - interval: How often to record the place.
  ///   - body: Called for each element in order, on the run's thread; counts the bytes it spends. If it throws, the place is recorded and
  ///     the error is rethrown, so a retry begins with the failed element; a `CancellationError` after expiration ends the run like any
  ///     other limit.
  /// - Returns: The progress, with ``IterationResult/taskResult`` as the result for the run.
  /// - Throws: What `body` throws; ``TaskHostError`` if the checkpoint cannot be read or written (`unavailable`: the disk is full; work
  ///   since the last checkpoint will be repeated); ``TaskFailure`` for a sequence that is not sorted by its keys.
  nonisolated(nonsending) public func forEach<Elements: Collection>(
    _ elements: Elements, named name: String = "items", by identity: ElementIdentity<Elements.Element> = .position(),
    budget: WorkBudget = WorkBudget(), checkpoint interval: CheckpointInterval = CheckpointInterval(),
    body: nonisolated(nonsending) (Elements.Element, inout WorkMeter) async throws -> Void
  ) async throws -> IterationResult {
    try await forEach(
      elements, named: name, by: identity, budget: budget, checkpoint: interval, total: elements.count, body: body)
  }

  /// Processes each element of a sequence: see ``forEach(_:named:by:budget:checkpoint:body:)``.
  ///
  /// `total` is the number of all elements, for progress reports; 0 if unknown.
  ///
  /// - Throws: The same errors.
  nonisolated(nonsending) public func forEach<Elements: Sequence>(
    _ elements: Elements, named name: String = "items", by identity: ElementIdentity<Elements.Element> = .position(),
    budget: WorkBudget = WorkBudget(), checkpoint interval: CheckpointInterval = CheckpointInterval(), total: Int = 0,
    body: nonisolated(nonsending) (Elements.Element, inout WorkMeter) async throws -> Void
  ) async throws -> IterationResult {
    var iteration = try CheckpointedIteration(run, named: name, by: identity, budget: budget, checkpoint: interval, total: total)
    var iterator = elements.makeIterator()
    return try await iteration.go({ iterator.next() }, body)
  }

  /// Processes each element of an asynchronous sequence, which every run creates again from its beginning: see
  /// ``forEach(_:named:by:budget:checkpoint:body:)``.
  ///
  /// `total` is the number of all elements, for progress reports; 0 if unknown.
  ///
  /// - Throws: The same errors, and what the sequence throws.
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
