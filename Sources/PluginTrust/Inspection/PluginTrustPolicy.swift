import Glibc
import StrictText

/// The users and directories that the checks trust.
public struct PluginTrustPolicy: Sendable, Equatable {
  /// The user who, besides root, may own plugins and their directories.
  public var user: UInt32

  /// Absolute directories, such as those of a Swift toolchain. Plugins may use libraries in and below them, besides the system's.
  public var trustedLibraryDirectories: [String]

  /// The maximum size of a plugin's file in bytes.
  public var maximumSize: UInt64

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - user: The user who, besides root, may own plugins; nil means the host's effective user.
  ///   - trustedLibraryDirectories: Absolute paths, none by default.
  ///   - maximumSize: In bytes. The default of 512 MiB is five times the size of a plugin that links the whole Swift Foundation.
  public init(user: UInt32? = nil, trustedLibraryDirectories: [String] = [], maximumSize: UInt64 = 512 << 20) {
    self.user = user ?? geteuid()
    self.trustedLibraryDirectories = trustedLibraryDirectories
    self.maximumSize = maximumSize
  }

  /// The library directories of Debian, Fedora and their derivatives, and of `make install`.
  static let systemLibraryDirectories = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"]

  /// Whether a path is in or below a system library directory or ``trustedLibraryDirectories``.
  ///
  /// Compares only text, because the operator is responsible for the content of those directories, including links.
  func trustsLibraryPath(_ path: String) -> Bool {
    guard path.utf8.first == UInt8(ascii: "/") else { return false }
    let parts = Self.components(path)
    guard !parts.contains(".."), !path.has("$") else { return false }
    return (Self.systemLibraryDirectories + trustedLibraryDirectories).contains { directory in
      let prefix = Self.components(directory)
      return !prefix.isEmpty && parts.starts(with: prefix)
    }
  }

  private static func components(_ path: String) -> [String] {
    path.parts(between: "/").filter { $0 != "." }
  }
}
