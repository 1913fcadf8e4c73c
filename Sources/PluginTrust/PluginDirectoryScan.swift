import Glibc

/// What the plugin directories offer: files that passed every check short of running them, and the others with the reason.
///
/// Lists `*.so` and `*.task.toml`, without hidden files, sorted by the bytes of their names, directory after directory in the order given.
/// A directory given twice is listed once. Reading blocks on the disk: call it off the cooperative pool.
public struct PluginDirectoryScan: Sendable, Equatable {
  /// Names a directory may have that end in `.so` or `.task.toml`.
  private static let fileLimit = 4096

  /// The files that passed, in the order of listing.
  public private(set) var accepted: [PluginFile] = []

  /// The files that did not, in the order of listing; ``PluginRefusal/file`` is the path.
  public private(set) var refused: [PluginRefusal] = []

  /// Lists and checks.
  ///
  /// - Parameters:
  ///   - directories: Paths, absolute or relative to the working directory.
  ///   - policy: Whom to trust.
  /// - Throws: ``PluginDirectoryError`` for a directory that is missing, is not one or cannot be read. A directory that others may write is
  ///   no error: its files are refused.
  public init(directories: [String], policy: PluginTrustPolicy = PluginTrustPolicy()) throws(PluginDirectoryError) {
    var listed: Set<PluginInspection.Identity> = []
    var files: [PluginInspection.Identity: String] = [:]
    for directory in directories {
      let trust = try DirectoryTrust(of: directory, user: policy.user)
      let descriptor = open(trust.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { throw PluginDirectoryError(directory: directory, number: errno) }
      defer { close(descriptor) }
      var info = stat()
      guard fstat(descriptor, &info) == 0 else { throw PluginDirectoryError(directory: directory, number: errno) }
      guard listed.insert(.init(device: UInt64(info.st_dev), inode: UInt64(info.st_ino))).inserted else { continue }
      for name in try Self.names(in: descriptor, directory) {
        check(name, in: descriptor, trust, policy, &files)
      }
    }
  }

  private mutating func check(
    _ bytes: [UInt8], in descriptor: Int32, _ trust: DirectoryTrust, _ policy: PluginTrustPolicy,
    _ files: inout [PluginInspection.Identity: String]
  ) {
    let prefix = trust.path == "/" ? "/" : trust.path + "/"
    guard let name = String(validating: bytes, as: UTF8.self), !name.hasControlCharacters else {
      let shown = String(decoding: bytes.map { (0x20..<0x7f).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
      refused.append(Objection.badName.refusal(of: prefix + shown))
      return
    }
    let path = prefix + name
    do throws(Objection) {
      if let objection = trust.objection { throw objection }
      if name.hasSuffix(".task.toml") { throw .manifest }
      let file = try PluginInspection(policy: policy).inspect(name, in: descriptor, path: path) { identity in
        guard let first = files[identity] else {
          files[identity] = path
          return nil
        }
        return first
      }
      accepted.append(file)
    } catch {
      refused.append(error.refusal(of: path))
    }
  }

  /// The names of what could be plugins, sorted; bytes, since a name need not be UTF-8.
  private static func names(in descriptor: Int32, _ directory: String) throws(PluginDirectoryError) -> [[UInt8]] {
    // A descriptor of its own: closedir closes it, and reading moves its position.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw PluginDirectoryError(directory: directory, number: errno) }
    guard let stream = fdopendir(copy) else {
      let number = errno
      close(copy)
      throw PluginDirectoryError(directory: directory, number: number)
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw PluginDirectoryError(directory: directory, number: errno) }
        break
      }
      let name = Self.name(of: entry)
      guard name.first != UInt8(ascii: "."), [".so", ".task.toml"].contains(where: { name.reversed().starts(with: $0.utf8.reversed()) })
      else { continue }
      names.append(name)
      guard names.count <= fileLimit else {
        throw PluginDirectoryError(
          directory: directory, observed: "has more than \(fileLimit) plugin files", remedy: "Give plugins a directory of their own.")
      }
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The name in a directory entry: the bytes up to the first zero, of which there is one within the entry.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    let start = UnsafeRawPointer(entry) + offset
    return Array(UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self))))
  }
}
