public import PluginTrust

/// Looks at a plugin file as the host does before it loads it. None of the file's code runs.
public enum PluginInspector {
  /// What the file says of itself.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: Why the host would refuse it.
  public static func inspect(_ path: String) throws(PluginRefusal) -> PluginFile {
    try PluginFile(inspecting: path, policy: PluginTrustPolicy(trustedLibraryDirectories: SwiftRuntime.directories))
  }
}
