/// The names and numbers of `taskhost.h` that a file can declare.
enum PluginABI {
  /// The only accepted value of ``versionSymbol``.
  static let version: UInt32 = 1

  static let launchSymbol = "taskhost_plugin_launch"
  static let versionSymbol = "taskhost_plugin_abi_version"
  static let handlerLimitSymbol = "taskhost_plugin_handler_limit"
  static let shutdownSymbol = "taskhost_plugin_shutdown"

  static let noteOwner = "taskhost"
  static let noteType: UInt32 = 0x5448_0001
  /// The maximum size of the note's descriptor in bytes.
  static let noteLimit = 4096
}
