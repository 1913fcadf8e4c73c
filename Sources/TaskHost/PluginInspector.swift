public import PluginTrust
public import TaskModel

/// Inspects a plugin file as the host does before loading it. None of the file's code runs.
public enum PluginInspector {
  private static var policy: PluginTrustPolicy { SwiftRuntime.trustPolicy }

  /// Reads the plugin's own declarations.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: The reason why the host would refuse it.
  public static func inspect(_ path: String) throws(PluginRefusal) -> PluginFile {
    try PluginFile(inspecting: path, policy: policy)
  }

  /// Checks a plugin or a manifest, with the signature beside it, as a host with this configuration does before it loads it.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Returns: The identifier that the file names, and its version; nil where it names none.
  /// - Throws: The reason why the host would refuse it.
  public static func check(
    _ path: String, for configuration: HostConfiguration
  ) throws(PluginRefusal) -> (identifier: String?, version: String?) {
    guard !path.hasSuffix(".task.toml") else { return (try inspectManifest(path).adoption.identifier.rawValue, nil) }
    let plugin = try inspect(path)
    let signatures: SignaturePolicy
    do throws(HostFailure) { signatures = try configuration.signaturePolicy() } catch {
      throw PluginRefusal(code: .signature, file: path, observed: error.message, remedy: "Correct trusted_keys.")
    }
    let digest: [UInt8]
    do throws(SigningFileError) { digest = try PluginSigning.digest(of: path) } catch {
      throw PluginRefusal(code: .unreadable, file: path, observed: error.observed, remedy: error.remedy)
    }
    _ = try signatures.check(digest: digest, of: plugin.path)
    return (plugin.elf.note?.identifier, plugin.elf.note?.version)
  }

  /// Reads a manifest `NAME.task.toml`, and inspects its library without loading it.
  ///
  /// - Parameter path: Absolute or relative to the working directory.
  /// - Throws: The reason why the host would refuse it.
  public static func inspectManifest(_ path: String) throws(PluginRefusal) -> ManifestInspection {
    try inspect(try ManifestFile(inspecting: path, policy: policy))
  }

  /// Reads a manifest that was found in a plugin directory.
  static func inspect(_ file: ManifestFile) throws(PluginRefusal) -> ManifestInspection {
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
