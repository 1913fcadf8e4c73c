import Glibc

/// Whom and what the checks trust.
public struct PluginTrustPolicy: Sendable, Equatable {
  /// The user who may own plugins and their directories, besides root.
  public var user: UInt32

  /// Absolute directories in which, and below which, a plugin may look for libraries besides the system's: those of a Swift toolchain.
  public var trustedLibraryDirectories: [String]

  /// Bytes a plugin's file may have.
  public var maximumSize: UInt64

  /// A policy; every part has a default.
  ///
  /// - Parameters:
  ///   - user: The host's effective user if nil.
  ///   - trustedLibraryDirectories: Absolute paths, none by default.
  ///   - maximumSize: 512 MiB by default, five times a plugin with the whole Swift Foundation linked in.
  public init(user: UInt32? = nil, trustedLibraryDirectories: [String] = [], maximumSize: UInt64 = 512 << 20) {
    self.user = user ?? geteuid()
    self.trustedLibraryDirectories = trustedLibraryDirectories
    self.maximumSize = maximumSize
  }

  /// Where Debian, Fedora and their kin keep libraries, and where `make install` puts them.
  static let systemLibraryDirectories = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"]

  /// Whether a directory or file of libraries is one of the system's or of ``trustedLibraryDirectories``, or below one.
  ///
  /// Only the text is looked at: what lies in those directories, links included, is the operator's.
  func trustsLibraryPath(_ path: String) -> Bool {
    guard path.utf8.first == UInt8(ascii: "/") else { return false }
    let parts = Self.components(path)
    guard !parts.contains(".."), !parts.contains(where: { $0.contains("$") }) else { return false }
    return (Self.systemLibraryDirectories + trustedLibraryDirectories).contains { directory in
      let prefix = Self.components(directory)
      return !prefix.isEmpty && parts.starts(with: prefix)
    }
  }

  private static func components(_ path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }
  }
}
