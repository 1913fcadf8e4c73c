import Glibc
import HostThreads
public import TaskModel

/// The content of the plugin directories: the files that passed every check short of running them, and the refused files.
///
/// Lists visible `*.so` and `*.task.toml` files directory by directory in the given order, sorted by the bytes of their names. Lists a
/// directory that is given twice only once. Blocks on the disk: call it outside the cooperative pool.
public struct PluginDirectoryScan: Sendable, Equatable {
  /// The maximum number of `.so` and `.task.toml` names in a directory.
  private static let fileLimit = 4096
  private static let suffixes = [Array(".so".utf8), Array(".task.toml".utf8)]

  /// Whether a file with this name is looked at as a plugin or a manifest.
  public static func lists(_ name: String) -> Bool { lists(Array(name.utf8)) }

  private static func lists(_ name: [UInt8]) -> Bool {
    name.first != UInt8(ascii: ".") && suffixes.contains { name.suffix($0.count).elementsEqual($0) }
  }

  /// The files that passed, in listing order.
  public private(set) var entries: [Entry] = []

  /// The plugin files among ``entries`` that were opened and read: all of them if none was known.
  public var accepted: [PluginFile] {
    entries.compactMap { entry in
      guard case .inspected(let file) = entry else { return nil }
      return file
    }
  }

  /// The refused files, in listing order; ``PluginRefusal/file`` is the path.
  public private(set) var refused: [PluginRefusal] = []

  /// Lists and checks the directories.
  ///
  /// - Parameters:
  ///   - directories: Paths, absolute or relative to the working directory.
  ///   - policy: The users and directories to trust.
  ///   - known: Returns what is remembered of the file at an absolute path. If the marks show no change, the file is not opened: one system
  ///     call checks its marks, owner, mode, size and hard links.
  /// - Throws: ``PluginDirectoryError`` if a directory is missing, is not a directory or cannot be read. A directory that others may write
  ///   to is not an error, but all its files are refused.
  public init(
    directories: [String], policy: PluginTrustPolicy = PluginTrustPolicy(), known: (String) -> KnownPluginFile? = { _ in nil }
  ) throws(PluginDirectoryError) {
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
        check(name, in: descriptor, trust, policy, known, &files)
      }
    }
  }

  private mutating func check(
    _ bytes: [UInt8], in descriptor: Int32, _ trust: DirectoryTrust, _ policy: PluginTrustPolicy,
    _ known: (String) -> KnownPluginFile?, _ files: inout [PluginInspection.Identity: String]
  ) {
    let prefix = trust.path == "/" ? "/" : trust.path + "/"
    guard let name = String(validating: bytes, as: UTF8.self), !name.hasControlCharacters else {
      let shown = String(decoding: bytes.map { (0x20..<0x7f).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
      refused.append(Rejection.badName.refusal(of: prefix + shown))
      return
    }
    let path = prefix + name
    do throws(Rejection) {
      if let rejection = trust.rejection { throw rejection }
      let inspection = PluginInspection(policy: policy)
      func claim(_ identity: PluginInspection.Identity) -> String? {
        guard let first = files[identity] else {
          files[identity] = path
          return nil
        }
        return first
      }
      if name.hasSuffix(".task.toml") {
        entries.append(.manifest(try ManifestFile(name, in: descriptor, path: path, policy: policy, claim: claim)))
        return
      }
      if let known = known(path), known.path == path {
        var info = stat()
        guard fstatat(descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { throw .unreadable(errno) }
        if FileMarks(info) == FileMarks(known) {
          try inspection.check(info, path: path, claim: claim)
          entries.append(.known(known))
          return
        }
      }
      entries.append(.inspected(try inspection.inspect(name, in: descriptor, path: path, claim: claim)))
    } catch {
      refused.append(error.refusal(of: path))
    }
  }

  /// The sorted names of possible plugins, as bytes because a name need not be UTF-8.
  private static func names(in descriptor: Int32, _ directory: String) throws(PluginDirectoryError) -> [[UInt8]] {
    let names: [[UInt8]]
    do throws(ErrorNumber) {
      names = try DirectoryNames.list(in: descriptor, atMost: fileLimit + 1, where: lists)
    } catch {
      throw PluginDirectoryError(directory: directory, number: error.code)
    }
    guard names.count <= fileLimit else {
      throw PluginDirectoryError(
        directory: directory, observed: "has more than \(fileLimit) plugin files", remedy: "Give plugins a directory of their own.")
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension PluginDirectoryScan {
  /// A listed file that passed the checks.
  public enum Entry: Sendable, Equatable {
    /// A plugin whose marks show no change since an earlier launch. It was not opened; its owner, mode and directories were checked again.
    case known(KnownPluginFile)
    /// A plugin that was opened and whose ELF structures were checked.
    case inspected(PluginFile)
    /// A manifest, which adopts a library. Its text was read.
    case manifest(ManifestFile)

    /// The absolute path, with the links of its directories resolved.
    public var path: String {
      switch self {
      case .known(let file): file.path
      case .inspected(let file): file.path
      case .manifest(let file): file.path
      }
    }
  }
}
