/// The requests that a plugin may submit: to its own identifiers and those of `may_submit` in its configuration, waiting for files that it
/// may read, and waking the machine if it has `may_wake`.
public struct SubmissionRules: Sendable {
  let others: [TaskIdentifier: [IdentifierPattern]]
  let mayRead: @Sendable (String, [TaskIdentifier]) -> Bool
  let mayWake: @Sendable (TaskIdentifier) -> Bool

  /// - Parameters:
  ///   - others: The identifiers that each plugin may submit to besides its own.
  ///   - mayRead: Whether the plugin with these identifiers may read the file or directory at an absolute path, which need not exist. May
  ///     block.
  ///   - mayWake: Whether the plugin with this identifier may wake the machine.
  public init(
    others: [TaskIdentifier: [IdentifierPattern]], mayRead: @escaping @Sendable (String, [TaskIdentifier]) -> Bool,
    mayWake: @escaping @Sendable (TaskIdentifier) -> Bool
  ) {
    self.others = others
    self.mayRead = mayRead
    self.mayWake = mayWake
  }

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

  /// The record, if it is of an identifier that the plugin may submit to. Throws `notFound` otherwise, in the same words whether there is
  /// such a request or not: ids can be guessed, and requests of others are not the plugin's business.
  ///
  /// - Parameters:
  ///   - record: What is on record under the id.
  ///   - isLive: Whether a request that has ended does not count either.
  public func visible(
    _ record: RequestRecord?, _ id: RequestID, to plugin: TaskIdentifier, own: [TaskIdentifier], isLive: Bool = false
  ) throws(CallFailure) -> RequestRecord {
    if let record, !isLive || !record.state.isFinal, (try? check(record.request.identifier, from: plugin, own: own)) != nil {
      return record
    }
    throw CallFailure(
      .notFound, "there is no \(isLive ? "live " : "")request \(id) of an identifier that \(plugin) may submit to")
  }

  /// Throws `notPermitted` unless the plugin may submit the request. The outputs of its predecessors become a part of its payload, so each
  /// of them is a request that the plugin may submit itself: any other is `invalid`, in the same words whether it is on record or not.
  ///
  /// - Parameter owner: The identifier of a request on record; nil if it is not on record.
  public func check(
    _ request: TaskRequest, from plugin: TaskIdentifier, own: [TaskIdentifier] = [],
    owner: (RequestID) throws(CallFailure) -> TaskIdentifier?
  ) throws(CallFailure) {
    try check(request.identifier, from: plugin, own: own)
    try checkFields(of: request, own: [plugin] + own)
    for dependency in request.after {
      guard case .request(let id) = dependency.predecessor else { continue }
      guard let identifier = try owner(id), (try? check(identifier, from: plugin, own: own)) != nil else {
        throw CallFailure(
          .invalid,
          "\(RequestField.after.rawValue): there is no request \(id) of an identifier that \(plugin) may submit to: one that ended long ago "
            + "may be on record no longer")
      }
    }
  }

  /// Throws `notPermitted` if the request wakes the machine and the plugin may not: it costs the battery of a laptop that its owner has
  /// closed.
  ///
  /// - Parameter own: The identifiers of the plugin.
  public func checkWake(of request: TaskRequest, own: [TaskIdentifier]) throws(CallFailure) {
    guard request.gates.wakes, let identifier = own.first, !own.contains(where: mayWake) else { return }
    throw CallFailure(
      .notPermitted, "\(RequestField.wake.rawValue): \(identifier) may not wake the machine: set may_wake = true in its table")
  }

  /// Throws `invalid` for values that no host takes, reserved tags among them, and `notPermitted` if the request wakes the machine and the
  /// plugin may not, or waits for a file that the plugin may not read: when a file changes tells something of it.
  ///
  /// - Parameter own: The identifiers of the plugin.
  public func checkFields(of request: TaskRequest, own: [TaskIdentifier]) throws(CallFailure) {
    do throws(RequestRefusal) { try request.check() } catch { throw CallFailure(error) }
    try checkWake(of: request, own: own)
    guard let path = request.event?.path, !mayRead(path, own) else { return }
    throw CallFailure(
      .notPermitted,
      "\(RequestField.watch.rawValue): \"\(String(path.prefix(80)).escapingControlCharacters)\" is not below a path of the plugin's "
        + "entitlements: add it to entitlements.read")
  }
}

extension SubmissionRules {
  /// Whether the end of a transfer may launch the handler of an identifier: if who submitted the transfer may submit to it. For clients, it
  /// is the plugin that carries transfers out whose `may_submit` counts.
  ///
  /// - Parameters:
  ///   - owner: The plugin that submitted the transfer, by one of its identifiers; nil for a client.
  ///   - plugins: The identifiers of each plugin.
  public func mayTell(_ target: TaskIdentifier, of owner: TaskIdentifier?, among plugins: [[TaskIdentifier]]) -> Bool {
    let owner = owner ?? .transfers
    let own = plugins.first { $0.contains(owner) } ?? [owner]
    return own.contains { plugin in
      do {
        try check(target, from: plugin, own: own)
        return true
      } catch { return false }
    }
  }
}
