public import PluginTrust
public import TaskModel

/// Inspects a plugin file as the host does before loading it. None of the file's code runs.
public enum PluginInspector {
  private static var policy: PluginTrustPolicy { PluginTrustPolicy(trustedLibraryDirectories: SwiftRuntime.directories) }

  /// Reads the plugin's own declarations.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: The reason why the host would refuse it.
  public static func inspect(_ path: String) throws(PluginRefusal) -> PluginFile {
    try PluginFile(inspecting: path, policy: policy)
  }

  /// Reads a manifest `NAME.task.toml`, and inspects its library without loading it.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: The reason why the host would refuse it.
  public static func inspectManifest(_ path: String) throws(PluginRefusal) -> ManifestInspection {
    let file = try ManifestFile(inspecting: path, policy: policy)
    let manifest = try AdoptionManifest(file)
    let adoption = try manifest.adoption(file)
    let library = try AdoptedLibrary(
      inspecting: manifest.library, symbol: manifest.symbol, manifest: file.path, policy: policy)
    return ManifestInspection(path: file.path, adoption: adoption, library: library)
  }
}

/// A manifest that the host would accept.
public struct ManifestInspection: Sendable, Equatable {
  /// The absolute path of the manifest.
  public let path: String
  /// The contract: identifier, kind, symbol, normalized signature, success rule.
  public let adoption: LibraryAdoption
  /// The library: its path, whether it belongs to the system, its dependencies.
  public let library: AdoptedLibrary
}
