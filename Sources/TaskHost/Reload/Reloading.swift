/// How a host reads its configuration anew, and who hears of that.
public struct Reloading: Sendable {
  /// Reads the configuration as at the launch, with the same options. Called on a thread that may block.
  let load: @Sendable () throws(ConfigurationError) -> HostConfiguration
  /// Called when a reload begins.
  let begun: @Sendable () -> Void
  /// Called when it has ended, whatever became of it, unless the host is about to end.
  let ended: @Sendable () -> Void

  /// Creates it from its parts.
  public init(
    load: @escaping @Sendable () throws(ConfigurationError) -> HostConfiguration, begun: @escaping @Sendable () -> Void = {},
    ended: @escaping @Sendable () -> Void = {}
  ) {
    (self.load, self.begun, self.ended) = (load, begun, ended)
  }
}
