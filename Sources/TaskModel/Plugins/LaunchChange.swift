/// A change to requests that a plugin asked for while it launched: held until the registry is sealed, then carried out once, in the order of
/// the calls.
public enum LaunchChange: Sendable, Hashable {
  /// Submit it.
  case submit(TaskRequest)
  /// Cancel the pending requests of these identifiers, which are the plugin's own.
  case cancel([TaskIdentifier])
}
