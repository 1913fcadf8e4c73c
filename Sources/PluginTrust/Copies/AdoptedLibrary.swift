import Glibc

/// A checked library that a manifest adopts, and the file to load for it.
///
/// A system library belongs to root and is in a system directory. The host loads it in place, because it trusts it as much as its own
/// libraries. The host treats any other library as a plugin's file and loads a private copy.
public struct AdoptedLibrary: Sendable, Equatable {
  /// The library's absolute path, with links of system directories resolved.
  public let original: String

  /// The file to load: ``original`` or the host's copy; nil if the library was only inspected.
  public let loaded: String?

  /// The SHA-256 of the library's content, 32 bytes.
  public let digest: [UInt8]

  /// Whether the library is a system library.
  public let isSystem: Bool

  /// The libraries that the library needs, in the file's order.
  public let libraries: [String]
}

extension AdoptedLibrary {
  /// Checks a library without copying it, for `taskhost plugins inspect`.
  ///
  /// - Parameters:
  ///   - library: An absolute path, or a name such as `libz.so.1` to look up in the system's directories.
  ///   - symbol: The function that the library must export.
  ///   - manifest: The manifest's path, for the refusal.
  ///   - policy: The users and directories to trust.
  public init(
    inspecting library: String, symbol: String, manifest: String, policy: PluginTrustPolicy = PluginTrustPolicy()
  ) throws(PluginRefusal) {
    self = try Rejection.refusing(manifest) { () throws(Rejection) in
      let location = try LibraryLocation(library, policy: policy)
      return try Self.opened(location, library, policy) { directory throws(Rejection) in
        try Self.read(location, directory, symbol, policy)
      }
    }
  }

  static func read(
    _ location: LibraryLocation, _ directory: TrustedDirectory, _ symbol: String, _ policy: PluginTrustPolicy
  ) throws(Rejection) -> AdoptedLibrary {
    let inspection = PluginInspection(policy: policy)
    let (_, (function, digest, owner)) = try inspection.opening(
      directory.name, in: directory.descriptor, path: directory.path, claim: { _ in nil }
    ) { file, _ throws(Rejection) in
      var info = stat()
      guard fstat(file.descriptor, &info) == 0 else { throw .unreadable(errno) }
      return (try ElfFunction(symbol, reading: file, policy: policy), try FileDigest.sha256(of: file), info.st_uid)
    }
    let isSystem = location.isSystem && owner == 0
    return AdoptedLibrary(
      original: directory.path, loaded: isSystem ? directory.path : nil, digest: digest, isSystem: isSystem,
      libraries: function.libraries)
  }

  /// Opens the library's directory, with the checks for a plugin's directory. Rejections name the library.
  static func opened(
    _ location: LibraryLocation, _ library: String, _ policy: PluginTrustPolicy,
    _ body: (TrustedDirectory) throws(Rejection) -> AdoptedLibrary
  ) throws(Rejection) -> AdoptedLibrary {
    do throws(Rejection) {
      return try TrustedDirectory.opened(location.path, user: policy.user, body)
    } catch {
      throw error.about(library: library)
    }
  }
}

extension PluginCopies {
  /// Checks the library that a manifest names, and copies it unless it is a system library.
  ///
  /// - Parameters:
  ///   - library: An absolute path, or a name such as `libz.so.1` to look up in the system's directories.
  ///   - symbol: The function that the library must export.
  ///   - manifest: The manifest's path, for the refusal.
  ///   - policy: The users and directories to trust.
  /// - Returns: The library, with ``AdoptedLibrary/loaded`` set.
  public func adopt(
    _ library: String, symbol: String, manifest: String, policy: PluginTrustPolicy = PluginTrustPolicy()
  ) throws(PluginRefusal) -> AdoptedLibrary {
    try Rejection.refusing(manifest) { () throws(Rejection) in
      let location = try LibraryLocation(library, policy: policy)
      return try AdoptedLibrary.opened(location, library, policy) { directory throws(Rejection) in
        let seen = try AdoptedLibrary.read(location, directory, symbol, policy)
        guard seen.loaded == nil else { return seen }
        let stored = try store(directory, policy, nil) { file throws(Rejection) in
          try ElfFunction(symbol, reading: file, policy: policy)
        }
        return AdoptedLibrary(
          original: directory.path, loaded: stored.copy, digest: stored.digest, isSystem: false, libraries: stored.content.libraries)
      }
    }
  }
}
