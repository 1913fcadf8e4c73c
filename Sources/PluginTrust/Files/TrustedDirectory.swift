import Glibc

/// The open directory of one plugin file. It passed the directory checks.
///
/// Valid only inside the body of ``opened(_:user:_:)``, which closes it.
struct TrustedDirectory: Sendable {
  let descriptor: Int32
  let name: String
  /// The file's path with links of its directories resolved.
  let path: String

  /// Opens the directory that contains `file`.
  ///
  /// - Parameter file: The file's path, absolute or relative to the working directory.
  static func opened<Result>(
    _ file: String, user: UInt32, _ body: (TrustedDirectory) throws(Rejection) -> Result
  ) throws(Rejection) -> Result {
    let slash = file.lastIndex(of: "/")
    let name = slash.map { String(file[file.index(after: $0)...]) } ?? file
    let parent = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    let trust = try trust(of: parent, user: user)
    if let rejection = trust.rejection { throw rejection }
    let descriptor = open(trust.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(errno) }
    defer { close(descriptor) }
    let path = trust.path == "/" ? "/" + name : trust.path + "/" + name
    return try body(TrustedDirectory(descriptor: descriptor, name: name, path: path))
  }

  private static func trust(of directory: String, user: UInt32) throws(Rejection) -> DirectoryTrust {
    do throws(PluginDirectoryError) {
      return try DirectoryTrust(of: directory, user: user)
    } catch {
      throw Rejection(code: .unreadable, observed: "its directory \(error.observed)", remedy: "Correct the path.")
    }
  }
}
