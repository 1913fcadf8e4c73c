/// The identifiers that a plugin may submit to: its own, and those of `may_submit` in its configuration.
public struct SubmissionRules: Sendable {
  let others: [TaskIdentifier: [IdentifierPattern]]

  /// - Parameter others: The identifiers that each plugin may submit to besides its own.
  public init(others: [TaskIdentifier: [IdentifierPattern]]) { self.others = others }

  /// Throws `notPermitted` unless the plugin may submit to the identifier.
  ///
  /// - Parameters:
  ///   - plugin: The identifier whose `may_submit` applies.
  ///   - own: All known identifiers of the same plugin.
  public func check(_ identifier: TaskIdentifier, from plugin: TaskIdentifier, own: [TaskIdentifier] = []) throws(CallFailure) {
    guard identifier == plugin || own.contains(identifier) || others[plugin]?.contains(where: { $0.matches(identifier) }) == true else {
      throw CallFailure(.notPermitted, "\(plugin) may not submit to \(identifier): add it to its may_submit")
    }
  }

  /// Throws `notPermitted` unless the plugin may submit the request. The outputs of its predecessors become a part of its payload, so each
  /// of them is a request that the plugin may submit itself.
  ///
  /// - Parameter owner: The identifier of a request on record; nil if it is on record no longer, which the scheduler refuses.
  public func check(
    _ request: TaskRequest, from plugin: TaskIdentifier, own: [TaskIdentifier] = [],
    owner: (RequestID) throws(CallFailure) -> TaskIdentifier?
  ) throws(CallFailure) {
    try check(request.identifier, from: plugin, own: own)
    for dependency in request.after {
      guard case .request(let id) = dependency.predecessor, let identifier = try owner(id) else { continue }
      do { try check(identifier, from: plugin, own: own) } catch {
        throw CallFailure(.notPermitted, "\(RequestField.after.rawValue): \(plugin) may not wait for \(id): \(error.message)")
      }
    }
  }
}
