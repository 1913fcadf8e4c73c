import Glibc

extension PluginFile {
  /// Checks one file by its path, as a scan checks each file of a directory: its owner and mode, those of the directories above it, its
  /// content. For `taskhost plugins inspect FILE`, and for looking again at a copy before it is loaded.
  ///
  /// - Parameters:
  ///   - path: Absolute or relative to the working directory; need not end in `.so`.
  ///   - policy: Whom to trust.
  public init(inspecting path: String, policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginRefusal) {
    let slash = path.lastIndex(of: "/")
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    do throws(Objection) {
      let trust = try Self.trust(of: parent, user: policy.user)
      if let objection = trust.objection { throw objection }
      let descriptor = open(trust.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { throw .unreadable(errno) }
      defer { close(descriptor) }
      let whole = trust.path == "/" ? "/" + name : trust.path + "/" + name
      self = try PluginInspection(policy: policy).inspect(name, in: descriptor, path: whole) { _ in nil }
    } catch {
      throw error.refusal(of: path)
    }
  }

  private static func trust(of directory: String, user: UInt32) throws(Objection) -> DirectoryTrust {
    do throws(PluginDirectoryError) {
      return try DirectoryTrust(of: directory, user: user)
    } catch {
      throw Objection(code: .unreadable, observed: "its directory \(error.observed)", remedy: "Correct the path.")
    }
  }
}
