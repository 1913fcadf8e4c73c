public import RecordJSON

/// How a host reads its configuration anew, and who hears of that.
public struct Reloading: Sendable {
  /// Reads the configuration as at the launch, with the same options. Called on a thread that may block.
  let load: @Sendable () throws(ConfigurationError) -> HostConfiguration
  /// Called when a reload begins.
  let begun: @Sendable () -> Void
  /// Called when it has ended, whatever became of it, unless the host is about to end.
  let ended: @Sendable () -> Void
  /// Called when a reload that no client has asked for has put something in force.
  let recorded: @Sendable (ReloadCause, ReloadReport) async -> Void

  /// Creates it from its parts.
  public init(
    load: @escaping @Sendable () throws(ConfigurationError) -> HostConfiguration, begun: @escaping @Sendable () -> Void = {},
    ended: @escaping @Sendable () -> Void = {}, recorded: @escaping @Sendable (ReloadCause, ReloadReport) async -> Void = { _, _ in }
  ) {
    (self.load, self.begun, self.ended, self.recorded) = (load, begun, ended, recorded)
  }
}
