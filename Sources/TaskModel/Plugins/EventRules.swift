/// The events that a plugin may raise: those named after one of its identifiers, and those of `may_notify` in its configuration.
public struct EventRules: Sendable {
  let others: [TaskIdentifier: [EventPattern]]

  /// The plugins that come with the host, each with the first word of events that it may raise besides those named after it:
  /// `token-refresh.signed-in`. A plugin that merely calls itself `org.taskhost.SOMETHING` gets none.
  private static let builtIn = [
    "org.taskhost.cleanup": "cleanup", "org.taskhost.token-refresh": "token-refresh",
    TaskIdentifier.transfers.rawValue: "transfers",
  ]

  /// - Parameter others: The events that each plugin may raise besides those named after it.
  public init(others: [TaskIdentifier: [EventPattern]]) { self.others = others }

  /// Throws unless the plugin may raise the event: `invalid` for a text that is not a name, `notPermitted` for another's name.
  ///
  /// - Parameters:
  ///   - plugin: The identifier whose `may_notify` applies.
  ///   - own: All known identifiers of the same plugin.
  public func check(_ event: String, from plugin: TaskIdentifier, own: [TaskIdentifier] = []) throws(CallFailure) {
    if let flaw = EventTrigger.flaw(of: event) { throw CallFailure(.invalid, flaw) }
    guard !HostEvents.isRaised(event) else {
      throw CallFailure(.notPermitted, "\"\(event.escapingControlCharacters)\" is an event of the host, which alone raises it")
    }
    let isOwn = ([plugin] + own).contains { Self.owns($0, event) }
    guard isOwn || others[plugin]?.contains(where: { $0.matches(event) }) == true else {
      throw CallFailure(
        .notPermitted,
        "\(plugin) may not raise \"\(event)\": name it \(plugin) or \(plugin).SOMETHING, or add it to its may_notify")
    }
  }

  private static func owns(_ identifier: TaskIdentifier, _ event: String) -> Bool {
    let name = identifier.rawValue
    if event == name || event.hasPrefix(name + ".") { return true }
    return builtIn[name].map { event.hasPrefix($0 + ".") } ?? false
  }
}
