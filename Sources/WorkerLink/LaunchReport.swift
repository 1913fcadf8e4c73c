public import TaskModel

/// What a plugin did during its launch.
public struct LaunchReport: Sendable, Hashable {
  /// Its handlers, at most ``LinkFormat/registrations``.
  public var registrations: [HandlerRegistration]
  /// Its submissions and cancellations in order, at most ``TaskModel/Limits/launchChanges``.
  public var changes: [LaunchChange]
  /// Whether it exports `taskhost_plugin_shutdown`.
  public var hasShutdownHook: Bool
  /// Whether it asked for its settings or folder before it had registered an identifier.
  public var askedTooEarly: Bool

  /// Creates a report.
  public init(
    registrations: [HandlerRegistration], changes: [LaunchChange] = [], hasShutdownHook: Bool = false, askedTooEarly: Bool = false
  ) {
    self.registrations = registrations
    self.changes = changes
    self.hasShutdownHook = hasShutdownHook
    self.askedTooEarly = askedTooEarly
  }
}
