/// What the host lacks to begin a plugin's runs. None of it is held against the plugin.
public enum ShortageCause: Sendable, Hashable {
  /// Threads, descriptors or memory.
  case resources
  /// A path that the plugin is entitled to, or its data directory: it is not what it was when the host launched, or cannot be opened.
  case paths
  /// A worker that starts: its program is gone, or gives up before the plugin is loaded.
  case worker
}
