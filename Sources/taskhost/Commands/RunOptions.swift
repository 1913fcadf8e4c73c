/// What `taskhost run` was asked.
struct RunOptions: Sendable, Hashable {
  /// The configuration file; nil: `taskhost.toml` where there is one.
  var configuration: String?
  /// Plugin directories instead of the configuration's; empty: the configuration's.
  var pluginDirectories: [String] = []
  /// The state directory instead of the configuration's.
  var stateDirectory: String?
  /// Whether permitted identifiers that no file offers are no obstacle.
  var allowMissing = false
  /// Whether a store that lacks records it once had is no obstacle.
  var acceptStoreLoss = false
  /// The control socket instead of the configuration's.
  var socket: String?
}
