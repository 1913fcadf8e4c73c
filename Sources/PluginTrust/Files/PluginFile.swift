public import TaskModel

/// A plugin's file that passed every check short of running it.
public struct PluginFile: Sendable, Equatable {
  /// The absolute path, with every symbolic link of the directories resolved.
  public let path: String

  /// The last component of ``path``.
  public let name: String

  /// The metadata to compare before the file is used again.
  let marks: FileMarks

  /// The size in bytes.
  public var size: UInt64 { marks.size }

  /// The content of its ELF structures.
  public let elf: ElfSummary

  /// The file as the host remembers it between launches.
  ///
  /// - Parameter digest: The SHA-256 of the content, 32 bytes.
  public func known(digest: [UInt8]) -> KnownPluginFile {
    KnownPluginFile(
      path: path, device: marks.device, inode: marks.inode, size: size, modified: marks.modified, changed: marks.changed, digest: digest)
  }
}

extension PluginFile {
  /// Checks one file by its path, for `taskhost plugins inspect FILE`. As in a scan, the checks cover the owner and mode of the file and of
  /// the directories above it, and the content.
  ///
  /// - Parameters:
  ///   - path: Absolute or relative to the working directory. It need not end in `.so`.
  ///   - policy: The users and directories to trust.
  public init(inspecting path: String, policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginRefusal) {
    self = try Rejection.refusing(path) { () throws(Rejection) in
      try TrustedDirectory.opened(path, user: policy.user) { directory throws(Rejection) in
        try PluginInspection(policy: policy).inspect(directory.name, in: directory.descriptor, path: directory.path) { _ in nil }
      }
    }
  }
}
