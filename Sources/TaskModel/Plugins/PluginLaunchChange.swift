/// A change to requests that a plugin asked for during launch, with the plugin.
public struct PluginLaunchChange: Sendable, Hashable {
  /// The first identifier that the plugin registered.
  public let plugin: TaskIdentifier
  /// What it asked for.
  public let change: LaunchChange

  /// Creates a plugin's change.
  public init(_ change: LaunchChange, by plugin: TaskIdentifier) {
    self.plugin = plugin
    self.change = change
  }
}
