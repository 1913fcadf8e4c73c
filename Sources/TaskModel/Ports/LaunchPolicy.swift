/// The host's decisions during a plugin's launch. Called on the plugin's threads, one call at a time.
public protocol LaunchPolicy: Sendable {
  /// Checks whether the plugin may register the identifier. Throws `exists` or `notPermitted`.
  func admit(_ identifier: TaskIdentifier) throws(CallFailure)
  /// The plugin's settings, a JSON object.
  func settings(for identifier: TaskIdentifier) -> String
  /// The absolute path of the plugin's own folder. Creates the folder if necessary.
  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String
  /// Checks whether the plugin may submit the request.
  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure)
  /// The requests of these identifiers, which the plugin has registered, that were pending before the launch: oldest first, starting after
  /// `request` (nil: from the first). Empty in a launch that only probes what the plugin registers.
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage
  /// The plugin's entitlement to an absolute path.
  func entitlement(to path: String) -> PathEntitlement
  /// How many tokens of a named resource the host has; 0 if the configuration does not name it.
  func resourceTokens(_ name: String) throws(CallFailure) -> Int
  /// Takes a log line from the launching plugin.
  func log(_ line: LogLine)
}
