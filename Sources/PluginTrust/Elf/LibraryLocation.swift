import Glibc
import StrictText

/// The location of a manifest's library. The manifest gives a path, or a name to look up in the system's library directories.
struct LibraryLocation: Sendable, Equatable {
  /// The absolute path. Symbolic links below a system directory are allowed and resolved.
  let path: String
  /// Whether the library is in a system library directory, both before and after links are resolved.
  let isSystem: Bool

  /// - Parameter library: An absolute path, or a name without slashes such as `libz.so.1`.
  init(_ library: String, policy: PluginTrustPolicy) throws(Rejection) {
    let found = try Self.find(library)
    guard policy.trustsLibraryPath(found) else {
      path = found
      isSystem = false
      return
    }
    guard let resolved = realpath(found, nil) else { throw .libraryMissing(library, errno) }
    defer { free(resolved) }
    path = String(cString: resolved)
    isSystem = policy.trustsLibraryPath(path)
  }

  private static func find(_ library: String) throws(Rejection) -> String {
    guard !library.isEmpty, !library.utf8.contains(0) else { throw .libraryName(library) }
    if library.utf8.first == UInt8(ascii: "/") {
      guard access(library, F_OK) == 0 else { throw .libraryMissing(library, errno) }
      return library
    }
    guard !library.has("/") else { throw .libraryName(library) }
    for directory in directories where access(directory + "/" + library, F_OK) == 0 { return directory + "/" + library }
    throw .libraryNotFound(library, directories)
  }

  /// Whether a directory of the system has a library of that name.
  static func isInSystem(_ library: String) -> Bool { directories.contains { access($0 + "/" + library, F_OK) == 0 } }

  /// In the loader's order: directories for this machine first.
  private static let directories =
    ["/lib/\(ElfConstants.machineName)-linux-gnu", "/usr/lib/\(ElfConstants.machineName)-linux-gnu"]
    + ["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"]
}

extension PluginTrustPolicy {
  /// Whether a library that a plugin names is where the loader looks first: in the plugin's search path, in a directory of the system, or in
  /// one of ``trustedLibraryDirectories``, from which the process has its own.
  ///
  /// - Parameter searchPath: The plugin's. `$ORIGIN` does not count, because the host loads a copy.
  public func finds(_ library: String, besides searchPath: [String]) -> Bool {
    if library.utf8.first == UInt8(ascii: "/") { return access(library, F_OK) == 0 }
    let folders = searchPath.filter { $0.hasPrefix("/") } + trustedLibraryDirectories
    return LibraryLocation.isInSystem(library) || folders.contains { access($0 + "/" + library, F_OK) == 0 }
  }
}
