/// What the host lacks to start a plugin's runs. A shortage never counts against the plugin.
public enum ShortageCause: Sendable, Hashable {
  /// Threads, descriptors or memory.
  case resources
  /// An entitled path or the plugin's data directory has changed since the host launched, or cannot be opened.
  case paths
  /// A working worker: its program is gone, or exits before it loads the plugin.
  case worker
}
