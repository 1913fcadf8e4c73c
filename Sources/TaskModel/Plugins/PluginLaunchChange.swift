/// A change to requests that a plugin asked for during launch, with the plugin.
public struct PluginLaunchChange: Sendable, Hashable {
  /// The first identifier that the plugin registered.
  public let plugin: TaskIdentifier
  /// What it asked for.
  public let change: LaunchChange
  /// Whether what it submits is for the host's fleet.
  public let isForFleet: Bool

  /// Creates a plugin's change.
  public init(_ change: LaunchChange, by plugin: TaskIdentifier, isForFleet: Bool = false) {
    self.plugin = plugin
    self.change = change
    self.isForFleet = isForFleet
  }
}
