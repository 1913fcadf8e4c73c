/// The names and numbers of the plugin contract that can be read from a file, as fixed by `taskhost.h`.
enum PluginABI {
  /// The only value of ``versionSymbol`` that is taken.
  static let version: UInt32 = 1

  static let launchSymbol = "taskhost_plugin_launch"
  static let versionSymbol = "taskhost_plugin_abi_version"
  static let handlerLimitSymbol = "taskhost_plugin_handler_limit"
  static let shutdownSymbol = "taskhost_plugin_shutdown"

  static let noteOwner = "taskhost"
  static let noteType: UInt32 = 0x5448_0001
  /// Bytes of the note's descriptor.
  static let noteLimit = 4096
}
