extension PluginFile {
  /// Checks one file by its path, as a scan checks each file of a directory: its owner and mode, those of the directories above it, its
  /// content. For `taskhost plugins inspect FILE`.
  ///
  /// - Parameters:
  ///   - path: Absolute or relative to the working directory; need not end in `.so`.
  ///   - policy: The users and directories to trust.
  public init(inspecting path: String, policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginRefusal) {
    do throws(Rejection) {
      self = try TrustedDirectory.opened(path, user: policy.user) { directory throws(Rejection) in
        try PluginInspection(policy: policy).inspect(directory.name, in: directory.descriptor, path: directory.path) { _ in nil }
      }
    } catch {
      throw error.refusal(of: path)
    }
  }
}
