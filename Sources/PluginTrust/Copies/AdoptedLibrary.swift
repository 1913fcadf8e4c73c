import Glibc

/// A library that a manifest adopts, checked, and what of it is loaded.
///
/// One of the system's, root's own in the system's directories, is loaded from there: it is as trusted as the host's own libraries. Any
/// other is treated as a plugin's file and loaded from a private copy.
public struct AdoptedLibrary: Sendable, Equatable {
  /// Absolute path of the library, links of system directories resolved.
  public let original: String

  /// What is loaded: ``original`` itself, or the host's copy of it. nil where it was only looked at.
  public let loaded: String?

  /// SHA-256 of its content, 32 bytes.
  public let digest: [UInt8]

  /// Whether it is the system's.
  public let isSystem: Bool

  /// The libraries it needs, in its order.
  public let libraries: [String]

  /// Looks at a library without copying it, for `taskhost plugins inspect`.
  ///
  /// - Parameters:
  ///   - library: An absolute path, or a name such as `libz.so.1` that is looked for in the system's directories.
  ///   - symbol: The function it has to export.
  ///   - manifest: The manifest's path, for the refusal.
  ///   - policy: Whom to trust.
  public init(
    inspecting library: String, symbol: String, manifest: String, policy: PluginTrustPolicy = PluginTrustPolicy()
  ) throws(PluginRefusal) {
    do throws(Objection) {
      let location = try LibraryLocation(library, policy: policy)
      self = try Self.opened(location, library, policy) { directory throws(Objection) in
        try Self.read(location, directory, symbol, policy)
      }
    } catch {
      throw error.refusal(of: manifest)
    }
  }

  init(original: String, loaded: String?, digest: [UInt8], isSystem: Bool, libraries: [String]) {
    self.original = original
    self.loaded = loaded
    self.digest = digest
    self.isSystem = isSystem
    self.libraries = libraries
  }

  /// Checks and reads a library where it is.
  static func read(
    _ location: LibraryLocation, _ directory: TrustedDirectory, _ symbol: String, _ policy: PluginTrustPolicy
  ) throws(Objection) -> AdoptedLibrary {
    let inspection = PluginInspection(policy: policy)
    let (_, (function, digest, owner)) = try inspection.opening(
      directory.name, in: directory.descriptor, path: directory.path, claim: { _ in nil }
    ) { file, _ throws(Objection) in
      var info = stat()
      guard fstat(file.descriptor, &info) == 0 else { throw .unreadable(errno) }
      return (try ElfFunction(symbol, reading: file, policy: policy), try FileDigest.sha256(of: file), info.st_uid)
    }
    let isSystem = location.isSystem && owner == 0
    return AdoptedLibrary(
      original: directory.path, loaded: isSystem ? directory.path : nil, digest: digest, isSystem: isSystem,
      libraries: function.libraries)
  }

  /// Opens the library's directory, which passes the checks of a plugin's. What is objected to is said of the library.
  static func opened(
    _ location: LibraryLocation, _ library: String, _ policy: PluginTrustPolicy,
    _ body: (TrustedDirectory) throws(Objection) -> AdoptedLibrary
  ) throws(Objection) -> AdoptedLibrary {
    do throws(Objection) {
      return try TrustedDirectory.opened(location.path, user: policy.user, body)
    } catch {
      throw error.about(library: library)
    }
  }
}

extension PluginCopies {
  /// Checks the library that a manifest names, and copies it unless it is the system's own.
  ///
  /// - Parameters:
  ///   - library: An absolute path, or a name such as `libz.so.1` that is looked for in the system's directories.
  ///   - symbol: The function it has to export.
  ///   - manifest: The manifest's path, for the refusal.
  ///   - policy: Whom to trust.
  /// - Returns: With ``AdoptedLibrary/loaded`` set.
  public func adopt(
    _ library: String, symbol: String, manifest: String, policy: PluginTrustPolicy = PluginTrustPolicy()
  ) throws(PluginRefusal) -> AdoptedLibrary {
    do throws(Objection) {
      let location = try LibraryLocation(library, policy: policy)
      return try AdoptedLibrary.opened(location, library, policy) { directory throws(Objection) in
        let seen = try AdoptedLibrary.read(location, directory, symbol, policy)
        guard seen.loaded == nil else { return seen }
        let stored = try store(directory, policy, nil) { file throws(Objection) in
          try ElfFunction(symbol, reading: file, policy: policy)
        }
        return AdoptedLibrary(
          original: directory.path, loaded: stored.copy, digest: stored.digest, isSystem: false, libraries: stored.content.libraries)
      }
    } catch {
      throw error.refusal(of: manifest)
    }
  }
}
