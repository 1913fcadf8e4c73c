import Glibc
import HostThreads
import OpenFiles
import PluginTrust
import TaskModel

/// The places that a reload reads: the configuration, the plugin directories, the keys. Libraries that manifests name are not among them.
struct ReloadPlaces: Sendable, Hashable {
  /// Nil if the host was started without one.
  let configuration: String?
  let directories: [String]
  let keys: [String]

  init(_ configuration: HostConfiguration) {
    self.configuration = configuration.file
    directories = configuration.pluginDirectories
    keys = configuration.trustedKeys.map(\.file)
  }

  /// The paths to watch.
  var paths: Set<String> { Set(directories + keys + (configuration.map { [$0] } ?? [])) }
}

/// What a reload would read, as far as is seen without reading plugins. Two of them differ if a reload may find something else.
struct ReloadSources: Sendable, Hashable {
  private enum Seen: Sendable, Hashable {
    case text(digest: [UInt8])
    case file(FileMarks)
    /// A plugin directory: who may write there decides whether its files are trusted.
    case directory(owner: UInt32, mode: UInt32)
    /// The number of an error.
    case trouble(Int32)
  }

  private var seen: [String: Seen] = [:]

  /// What a configuration was made of, with the plugins and keys as they are now. Blocks on the disk.
  init(of configuration: HostConfiguration) {
    if let file = configuration.file { seen[file] = .text(digest: configuration.written.digest) }
    look(at: ReloadPlaces(configuration))
  }

  /// What is at these places now. Blocks on the disk.
  init(at places: ReloadPlaces) {
    if let file = places.configuration { seen[file] = Self.text(at: file) }
    look(at: places)
  }

  private mutating func look(at places: ReloadPlaces) {
    for key in places.keys { seen[key] = Self.marks(of: key) }
    for directory in places.directories { look(in: directory) }
  }

  private mutating func look(in directory: String) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return seen[directory] = .trouble(errno) }
    defer { close(descriptor) }
    var info = stat()
    seen[directory] = fstat(descriptor, &info) == 0 ? .directory(owner: info.st_uid, mode: info.st_mode) : .trouble(errno)
    do throws(ErrorNumber) {
      let names = try DirectoryNames.list(in: descriptor, atMost: Self.mostNames) { Self.isRead(String(decoding: $0, as: UTF8.self)) }
      for name in names {
        let path = directory + "/" + String(decoding: name, as: UTF8.self)
        seen[path] = Self.marks(of: path)
      }
    } catch { seen[directory] = .trouble(error.code) }
  }

  /// More than a launch looks at.
  private static let mostNames = 16_384

  /// Whether a launch looks at a file of that name: temporary files of editors and of copying programs have others.
  private static func isRead(_ name: String) -> Bool {
    PluginDirectoryScan.lists(name.hasSuffix(".sig") ? String(name.dropLast(4)) : name)
  }

  private static func marks(of path: String) -> Seen {
    var info = stat()
    return lstat(path, &info) == 0 ? .file(FileMarks(info)) : .trouble(errno)
  }

  private static func text(at path: String) -> Seen {
    do throws(ErrorNumber) {
      var info = stat()
      guard stat(path, &info) == 0 else { throw .last }
      // One that somebody must write to first would hold the look up.
      guard info.st_mode & S_IFMT == S_IFREG else { return .trouble(EINVAL) }
      return .text(digest: SHA256.digest(of: try WholeTransfer.read(path, atMost: 8 << 20, O_NONBLOCK)))
    } catch { return .trouble(error.code) }
  }

  /// The paths that have come, gone or changed, sorted.
  func changes(to other: ReloadSources) -> [String] {
    Set(seen.keys).union(other.seen.keys).filter { seen[$0] != other.seen[$0] }.sorted()
  }

  /// Whether one of these files is open in a process, as while it is copied. Blocks; what cannot be found out counts as no.
  func hasOpen(among paths: [String]) -> Bool {
    var questions: [String: [FileQuestion]] = [:]
    for path in paths {
      guard case .file(let marks)? = seen[path], let slash = path.lastIndex(of: "/") else { continue }
      let question = FileQuestion(device: marks.device, inode: marks.inode, path: Array(path[path.index(after: slash)...].utf8))
      questions[String(path[..<slash]), default: []].append(question)
    }
    return questions.contains { directory, files in
      guard let resolved = RealPath.of(directory.isEmpty ? "/" : directory) else { return false }
      return (try? OpenFileLook.answer(files, in: resolved))?.contains(.open) ?? false
    }
  }
}
