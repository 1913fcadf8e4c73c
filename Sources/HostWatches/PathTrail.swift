import Glibc
import StrictText

/// The file system objects along a path, with links followed, as far as the path exists.
struct PathTrail: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    /// The path, without links before it.
    let location: String
    let identity: FileIdentity
    var role: WatchRole
    /// Whether the path cannot be watched without it.
    var isNeeded = false
  }

  /// In path order.
  private(set) var steps: [Step] = []
  private(set) var target = WatchTarget.missing
  /// Why the path cannot be followed; nil if it can.
  private(set) var problem: String?

  private static let mostLinks = 40

  /// Follows the absolute `path`, as `glance` shows the file system.
  init(_ path: String, by glance: inout FileGlance) {
    // The remaining names, in reverse order.
    var rest = Self.names(path)
    /// Indices in `steps` of the directories from the root to here.
    var directories: [Int] = []
    var links = 0
    guard let root = status("/", by: &glance) else { return }
    directories.append(pass("/", root, .passage))
    while let name = rest.popLast() {
      if name == ".." {
        if directories.count > 1 { directories.removeLast() }
        continue
      }
      let here = steps[directories[directories.count - 1]].location
      let location = here == "/" ? "/\(name)" : "\(here)/\(name)"
      guard let found = status(location, by: &glance) else {
        hold(name, in: directories, isLast: rest.isEmpty)
        return
      }
      switch found.st_mode & S_IFMT {
      case S_IFDIR: directories.append(pass(location, found, .passage))
      case S_IFLNK:
        pass(location, found, .object)
        links += 1
        guard links <= Self.mostLinks, let destination = Self.destination(of: location) else {
          if links > Self.mostLinks { problem = "it goes through more than \(Self.mostLinks) symbolic links, or in a circle" }
          return
        }
        if destination.hasPrefix("/") { directories.removeLast(directories.count - 1) }
        rest += Self.names(destination)
      default:
        let step = pass(location, found, rest.isEmpty ? .file : .object)
        steps[step].isNeeded = true
        if rest.isEmpty { target = .file(FileIdentity(found)) }
        return
      }
    }
    let last = directories[directories.count - 1]
    steps[last].role = .directory
    steps[last].isNeeded = true
    target = .directory(steps[last].identity)
    holdLast(of: directories, isLast: true)
  }

  /// The names of a path, in reverse order.
  private static func names(_ path: String) -> [String] {
    path.parts(between: "/").reversed().filter { $0 != "." }
  }

  @discardableResult private mutating func pass(_ location: String, _ status: stat, _ role: WatchRole) -> Int {
    steps.append(Step(location: location, identity: FileIdentity(status), role: role))
    return steps.count - 1
  }

  /// Records that a name is missing in the last directory.
  private mutating func hold(_ name: String, in directories: [Int], isLast: Bool) {
    let last = directories[directories.count - 1]
    steps[last].role = .holder(of: name, isLast: isLast)
    steps[last].isNeeded = true
    holdLast(of: directories, isLast: false)
  }

  /// Records that the last directory is an entry of the one before it.
  private mutating func holdLast(of directories: [Int], isLast: Bool) {
    guard directories.count > 1 else { return }
    let location = steps[directories[directories.count - 1]].location
    let name = location.parts(between: "/").last ?? ""
    steps[directories[directories.count - 2]].role = .holder(of: name, isLast: isLast)
  }

  /// nil if nothing is there, or if `problem` says why that is unknown.
  private mutating func status(_ location: String, by glance: inout FileGlance) -> stat? {
    switch glance.status(of: location) {
    case .success(let found): return found
    // Just removed, or never existed.
    case .failure(let error) where error.code == ENOENT || error.code == ENOTDIR: return nil
    case .failure(let error):
      problem =
        "\(location): \(String(cString: strerror(error.code)))" + (error.code == EACCES ? "; let the host's user search its directory" : "")
      return nil
    }
  }

  private static func destination(of location: String) -> String? {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      let length = buffer.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { readlink(location, $0, text.count) } ?? 0
      }
      count = max(0, length)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
