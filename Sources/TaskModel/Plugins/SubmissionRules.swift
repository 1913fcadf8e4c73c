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
}
