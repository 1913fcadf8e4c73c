import FoundationEssentials

extension TaskContext {
  /// The cheap half of the work: submits what it has decided as a request for the other half, which has the time and the conditions for it.
  ///
  /// ```swift
  /// // In the plugin com.example.photos.check, a refresh task with may_submit = ["com.example.photos.fetch"]:
  /// let missing = try await newPhotos()
  /// guard !missing.isEmpty else { return .noop }
  /// try task.prepare(missing, basis: revision, validFor: .seconds(86_400)) { plan in
  ///   try TaskRequest(identifier: "com.example.photos.fetch", json: plan)
  /// }
  /// return .success
  ///
  /// // In the plugin com.example.photos.fetch, a processing task with `typealias Payload = Plan<[String]>`:
  /// return try await task.execute(task.payload) { photos in
  ///   try await task.forEach(photos) { photo, _ in try await fetch(photo) }.taskResult
  /// }
  /// ```
  ///
  /// One plugin can be both, with a payload that is one or the other. There is one plan of a name at a time: a plan with another basis, or
  /// after the last one has become stale, replaces it, also while it is carried out (that run is asked to stop); with the same basis what
  /// waits or runs is kept. A plan that was carried out is not remembered: prepare only where there is something to do.
  ///
  /// - Parameters:
  ///   - content: What is to be done.
  ///   - basis: What it was decided on: see ``Plan/basis``.
  ///   - validFor: How long the plan may be carried out; `nil`: forever.
  ///   - name: Names the plan, 1 to 200 bytes of UTF-8.
  ///   - makeRequest: Makes the request that carries the plan, with an earliest begin and conditions as it likes; unique key and policy are
  ///     chosen here.
  /// - Returns: What became of the request.
  /// - Throws: What `makeRequest` throws; ``TaskHostError`` as ``submit(_:)``, `tooBig` for a plan over the limit.
  @discardableResult
  public func prepare<Content>(
    _ content: Content, basis: String, validFor: Duration? = nil, named name: String = "plan",
    request makeRequest: (Plan<Content>) throws -> TaskRequest
  ) throws -> Submission {
    let now = now
    let plan = Plan(
      id: requestID, basis: basis, preparedAt: now, validUntil: validFor.map { now.addingTimeInterval($0.seconds) }, content: content)
    var request = try makeRequest(plan)
    let key = "taskhost.plan.\(name)"
    request.uniqueKey = key
    request.onConflict = isCurrent(try? state.value(PreparedPlan.self, for: key), basis: basis, at: now) ? .keep : .replace
    let submission = try submit(request)
    // Last: a crash before this has the same plan submitted once more. What was kept is the plan that is remembered already.
    if submission.disposition != .kept { try state.setValue(PreparedPlan(basis: basis, validUntil: plan.validUntil), for: key) }
    return submission
  }

  /// The other half: carries a plan out, or drops it with a message where it is stale.
  ///
  /// A plan is carried out at least once: `body` must be idempotent, ``Plan/id`` is its key.
  ///
  /// - Parameters:
  ///   - plan: What the request carries.
  ///   - basis: What the plan would be decided on today; `nil` where that is not known or does not matter.
  ///   - body: Does the work. It may stop early and return snooze, as with ``forEach(_:named:by:budget:checkpoint:body:)``: the plan is
  ///     looked at again before it goes on.
  /// - Returns: What `body` returns; noop for a plan that is dropped.
  /// - Throws: What `body` throws.
  nonisolated(nonsending) public func execute<Content>(
    _ plan: Plan<Content>, basis: String? = nil, body: nonisolated(nonsending) (Content) async throws -> TaskResult
  ) async throws -> TaskResult {
    if let staleness = plan.staleness(at: now, basis: basis) {
      setMessage("dropped: \(staleness)")
      return .noop
    }
    return try await body(plan.content)
  }

  private func isCurrent(_ last: PreparedPlan?, basis: String, at now: Date) -> Bool {
    guard let last, last.basis == basis else { return false }
    return last.validUntil.map { now < $0 } ?? true
  }
}
