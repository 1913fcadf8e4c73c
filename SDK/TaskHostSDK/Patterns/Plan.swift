public import FoundationEssentials

/// The decision of a prepare phase for an execute phase: the durable payload of the execute request, at most 65,536 bytes of JSON. Store a
/// longer list in the plugin's data directory or state, and its name in the plan.
public struct Plan<Content: Codable & Sendable>: Codable, Sendable {
  /// The id of the request whose run prepared the plan, the same if that run is repeated. Use it as the idempotency key.
  public let id: String

  /// The basis of the decision, such as an entity tag, a revision or a count. A different basis makes the plan stale.
  public let basis: String

  /// When the plan was prepared, on the host's clock.
  public let preparedAt: Date

  /// The plan is stale from this time on; `nil` if age does not matter.
  public let validUntil: Date?

  /// The work to do.
  public let content: Content

  /// Returns why the plan is stale; `nil` if it is valid.
  ///
  /// - Parameters:
  ///   - now: The host's clock, ``TaskContext/now``.
  ///   - current: The current basis; `nil` if unknown.
  public func staleness(at now: Date, basis current: String? = nil) -> String? {
    if let validUntil, validUntil <= now { return "the plan of \(preparedAt) was valid until \(validUntil)" }
    if let current, current != basis { return "the plan was made for \(basis), and now there is \(current)" }
    return nil
  }
}
