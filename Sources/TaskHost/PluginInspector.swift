import Glibc
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
    let signatures: SignaturePolicy
    do throws(HostFailure) { signatures = try configuration.signaturePolicy() } catch {
      throw PluginRefusal(code: .signature, file: path, observed: error.message, remedy: "Correct trusted_keys.")
    }
    guard path.hasSuffix(".task.toml") else {
      let plugin = try inspect(path)
      _ = try status(of: plugin, signatures)
      return (plugin.elf.note?.identifier, plugin.elf.note?.version)
    }
    let file = try ManifestFile(inspecting: path, policy: policy)
    let inspection = try inspect(file)
    let identifier = inspection.adoption.identifier
    _ = try signatures.check(file, adopting: inspection.library, as: identifier)
    return (identifier.rawValue, nil)
  }

  /// Checks the signature beside a plugin that passed the other checks. Reads the file only if its digest counts.
  static func status(of plugin: PluginFile, _ signatures: SignaturePolicy) throws(PluginRefusal) -> SignatureStatus {
    let digest: [UInt8]
    let isHashed = signatures.needsDigest(of: plugin.path)
    do throws(SigningFileError) { digest = try isHashed ? PluginSigning.digest(of: plugin.path) : [] } catch {
      throw PluginRefusal(code: .unreadable, file: plugin.path, observed: error.observed, remedy: error.remedy)
    }
    return try signatures.check(digest: digest, of: plugin.path)
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

extension SignaturePolicy {
  /// Whether there is a signature that is compared with the plugin's content.
  fileprivate func needsDigest(of plugin: String) -> Bool {
    !keys.isEmpty && access(PluginSigning.signatureFile(of: plugin), F_OK) == 0
  }
}
