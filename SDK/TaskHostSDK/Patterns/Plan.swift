public import FoundationEssentials

/// What a prepare phase has decided and an execute phase is to carry out. It travels as the payload of the execute request, so it is durable
/// with it, at most 65,536 bytes of JSON; a longer list belongs into the plugin's data directory or state, with its name in the plan.
public struct Plan<Content: Codable & Sendable>: Codable, Sendable {
  /// The id of the request whose run prepared it, the same where that run is repeated: the key to be idempotent with.
  public let id: String

  /// What it was decided on, such as an entity tag, a revision or a count: another basis makes it stale.
  public let basis: String

  /// When, on the host's clock.
  public let preparedAt: Date

  /// From then on it is stale; `nil`: age does not matter.
  public let validUntil: Date?

  /// What is to be done.
  public let content: Content

  /// Why it is not to be carried out any more; `nil`: it is.
  ///
  /// - Parameters:
  ///   - now: The host's clock, ``TaskContext/now``.
  ///   - current: What it would be decided on today; `nil` where that is not known.
  public func staleness(at now: Date, basis current: String? = nil) -> String? {
    if let validUntil, validUntil <= now { return "the plan of \(preparedAt) was valid until \(validUntil)" }
    if let current, current != basis { return "the plan was made for \(basis), and now there is \(current)" }
    return nil
  }
}
