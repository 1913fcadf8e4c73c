public import TaskModel

/// What a plugin did while it launched.
public struct LaunchReport: Sendable, Hashable {
  /// Its handlers; at most ``LinkFormat/registrations``.
  public var registrations: [HandlerRegistration]
  /// What it submitted and cancelled, in order; at most ``TaskModel/Limits/launchChanges``.
  public var changes: [LaunchChange]
  /// Whether it has a `taskhost_plugin_shutdown`.
  public var hasShutdownHook: Bool
  /// Whether it asked for its settings or folder before the host knew who it is.
  public var askedTooEarly: Bool

  /// A report as given.
  public init(
    registrations: [HandlerRegistration], changes: [LaunchChange] = [], hasShutdownHook: Bool = false, askedTooEarly: Bool = false
  ) {
    self.registrations = registrations
    self.changes = changes
    self.hasShutdownHook = hasShutdownHook
    self.askedTooEarly = askedTooEarly
  }
}
