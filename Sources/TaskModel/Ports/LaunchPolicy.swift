/// What the host decides while a plugin launches. Called on the plugin's threads, one at a time.
public protocol LaunchPolicy: Sendable {
  /// Whether the plugin may have the identifier. Throws `exists` or `notPermitted`.
  func admit(_ identifier: TaskIdentifier) throws(CallFailure)
  /// The plugin's settings, a JSON object.
  func settings(for identifier: TaskIdentifier) -> String
  /// The plugin's own folder, an absolute path, made if need be.
  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String
  /// Whether a plugin with that identifier may submit the request.
  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure)
  /// The requests of these identifiers, which the plugin has registered, that are pending from before the launch, the oldest first; those
  /// after `request`, or with nil from the first on. None in a launch that only finds out what the plugin registers.
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage
  /// How far an absolute path is entitled to the plugin.
  func entitlement(to path: String) -> PathEntitlement
  /// A line from a plugin that launches.
  func log(_ line: LogLine)
}
