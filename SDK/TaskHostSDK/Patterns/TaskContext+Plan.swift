import FoundationEssentials

extension TaskContext {
  /// Submits a decision, the cheap half of the work, as a request for the other half, which has the time and the conditions for it.
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
  /// One plugin can be both, with a payload that is one or the other. Each name has one plan at a time. A plan with another basis, or one
  /// made after the last plan became stale, replaces it, even while it is executed (that run is asked to stop). With the same basis, the
  /// waiting or running request is kept. An executed plan is not remembered, so prepare only if there is work.
  ///
  /// - Parameters:
  ///   - content: The work to do.
  ///   - basis: The basis of the decision: see ``Plan/basis``.
  ///   - validFor: How long the plan is valid; `nil`: forever.
  ///   - name: Names the plan, 1 to 200 bytes of UTF-8.
  ///   - makeRequest: Creates the request for the plan, with any earliest begin and conditions. This function sets its unique key and
  /// policy.
  /// - Returns: The effect on the request.
  /// - Throws: Errors of `makeRequest`; the ``TaskHostError`` codes of ``submit(_:)``, `tooBig` for a plan over the limit.
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
    // Stored last: after a crash before this point, the same plan is submitted again. A kept plan is already stored.
    if submission.disposition != .kept { try state.setValue(PreparedPlan(basis: basis, validUntil: plan.validUntil), for: key) }
    return submission
  }

  /// Executes a plan, the other half of the work, or drops a stale one with a message.
  ///
  /// A plan is executed at least once, so `body` must be idempotent, with ``Plan/id`` as the key.
  ///
  /// - Parameters:
  ///   - plan: The request's payload.
  ///   - basis: The current basis; `nil` if it is unknown or does not matter.
  ///   - body: Does the work. It may stop early and return snooze, as with ``forEach(_:named:by:budget:checkpoint:body:)``; the plan is
  /// checked again before it continues.
  /// - Returns: What `body` returns; noop for a dropped plan.
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

/// The last submitted plan, stored in the identifier's state.
private struct PreparedPlan: Codable {
  let basis: String
  let validUntil: Date?
}
