import TaskModel

/// Which plugins of a configuration wait for approval: those that may do more than was approved. Commands do not: they are what the configuration
/// says, whole.
struct ApprovalRule: Sendable {
  /// As it was read, with the tables of plugins that wait.
  let configuration: HostConfiguration
  let approvals: [TaskIdentifier: Approval]

  /// What the plugin that serves these identifiers waits for; nil if it does not.
  ///
  /// - Parameters:
  ///   - identifiers: The first names the plugin; without any, nothing is known to be asked for.
  ///   - name: What the configuration ties identifiers to: those tied to it count as served.
  ///   - isRunning: Whether the plugin runs, and so goes on as it was meanwhile, unless its approval was revoked.
  func held(_ identifiers: [TaskIdentifier], named name: String, file: String, isRunning: Bool) -> HeldPlugin? {
    guard let first = identifiers.first else { return nil }
    let tied = IdentifierRules(configuration).identifiers(tiedTo: name).compactMap { try? TaskIdentifier($0) }
    let wanted = PluginPermissions(of: identifiers + tied.filter { !identifiers.contains($0) }, in: configuration)
    let isRevoked = approvals[first]?.isRevoked ?? false
    let approved = isRevoked ? nil : approvals[first]?.permissions
    let gained = approved.map { wanted.gained(over: $0) } ?? wanted.sentences
    guard !gained.isEmpty else { return nil }
    let pending = PendingApproval(
      first, file: file, gained: gained, lost: approved.map { wanted.lost(since: $0) } ?? [], fingerprint: wanted.fingerprint,
      isRunning: isRunning && !isRevoked)
    return HeldPlugin(pending: pending, identifiers: identifiers, permissions: wanted)
  }
}

/// A plugin that waits for approval.
struct HeldPlugin: Sendable {
  var pending: PendingApproval
  /// Those that it is known to serve.
  let identifiers: [TaskIdentifier]
  /// What would be approved.
  let permissions: PluginPermissions
}
