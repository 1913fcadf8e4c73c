/// A change to requests that a plugin asked for during launch. The host applies it once the registry is sealed, in the order of the calls.
public enum LaunchChange: Sendable, Hashable {
  /// Submits the request.
  case submit(TaskRequest)
  /// Cancels the pending requests of these identifiers, all of them the plugin's own.
  case cancel([TaskIdentifier])
}
