/// A manifest `NAME.task.toml`, which adopts a library. Its owner, mode and directories passed the checks; its text is still unchecked.
public struct ManifestFile: Sendable, Equatable {
  /// The maximum size in bytes; a typical manifest has a few hundred.
  static let limit: UInt64 = 64 << 10

  /// The absolute path, with every symbolic link of the directories resolved.
  public let path: String

  /// The last component of ``path``.
  public let name: String

  /// The file's text.
  public let text: String

  /// The SHA-256 of the content, 32 bytes.
  public let digest: [UInt8]

  /// Reads the manifest `name` in an open directory.
  ///
  /// - Parameters:
  ///   - directory: The borrowed descriptor of the directory, which passed the checks.
  ///   - path: The file's path, for the result and messages.
  ///   - claim: Called with the file's identity before the file is read. Returns the path of a previously listed file with the same
  ///     identity, if any.
  init(
    _ name: String, in directory: Int32, path: String, policy: PluginTrustPolicy, claim: (PluginInspection.Identity) -> String?
  ) throws(Rejection) {
    let (_, bytes) = try PluginInspection(policy: policy).opening(name, in: directory, path: path, claim: claim) {
      file, _ throws(Rejection) in
      guard file.size <= Self.limit else { throw .manifestTooBig(size: file.size, limit: Self.limit) }
      return try file.read("its text", at: 0, count: Int(file.size)).bytes
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .manifestNotText }
    self.path = path
    self.name = name
    self.text = text
    digest = SHA256.digest(of: bytes)
  }

  /// Checks and reads one manifest by its path as a scan does, for `taskhost plugins inspect`.
  ///
  /// - Parameters:
  ///   - path: Absolute or relative to the working directory.
  ///   - policy: The users and directories to trust.
  public init(inspecting path: String, policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginRefusal) {
    do throws(Rejection) {
      self = try TrustedDirectory.opened(path, user: policy.user) { directory throws(Rejection) in
        try ManifestFile(directory.name, in: directory.descriptor, path: directory.path, policy: policy) { _ in nil }
      }
    } catch {
      throw error.refusal(of: path)
    }
  }
}
