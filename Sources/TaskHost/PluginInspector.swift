public import PluginTrust
public import TaskModel

/// Looks at a plugin file as the host does before it loads it. None of the file's code runs.
public enum PluginInspector {
  private static var policy: PluginTrustPolicy { PluginTrustPolicy(trustedLibraryDirectories: SwiftRuntime.directories) }

  /// What the file says of itself.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: Why the host would refuse it.
  public static func inspect(_ path: String) throws(PluginRefusal) -> PluginFile {
    try PluginFile(inspecting: path, policy: policy)
  }

  /// What a manifest `NAME.task.toml` says, and what of its library can be seen without loading it.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: Why the host would refuse it.
  public static func inspectManifest(_ path: String) throws(PluginRefusal) -> ManifestInspection {
    let file = try ManifestFile(inspecting: path, policy: policy)
    let manifest = try AdoptionManifest(file)
    let adoption = try manifest.adoption(file)
    let library = try AdoptedLibrary(
      inspecting: manifest.library, symbol: manifest.symbol, manifest: file.path, policy: policy)
    return ManifestInspection(path: file.path, adoption: adoption, library: library)
  }
}

/// A manifest that the host would take.
public struct ManifestInspection: Sendable, Equatable {
  /// The manifest, an absolute path.
  public let path: String
  /// Its contract: identifier, kind, symbol, signature in its normal form, success rule.
  public let adoption: LibraryAdoption
  /// Its library: where it is, whether it is the system's, what it needs.
  public let library: AdoptedLibrary
}
