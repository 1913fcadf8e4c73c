import Glibc
import HostThreads

/// A folder that stands for the root of a machine. Symbolic links below it are followed as if it were `/`: none leads out of it.
struct RootFolder {
  /// Its real path without a slash at the end: empty for `/`.
  let path: String
  /// The user who owns it: root on a machine, perhaps somebody else for a copy.
  let owner: UInt32

  private static let mostLinks = 40

  init(_ given: String) throws(CommandFailure) {
    guard let real = realpath(given, nil) else {
      throw CommandFailure(.usage, "--root \(given)", ErrorNumber.last.description, remedy: "name the folder that holds etc and var")
    }
    defer { free(real) }
    let text = String(cString: real)
    var info = stat()
    guard stat(text, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure(.usage, "--root \(given)", "is not a folder", remedy: "name the folder that holds etc and var")
    }
    path = text == "/" ? "" : text
    owner = info.st_uid
  }

  /// Whether it is the root of this machine.
  var isMachine: Bool { path.isEmpty }

  /// The real path, below the root and without links, of a path below the root.
  func resolve(_ path: String) throws(ErrorNumber) -> String {
    var rest = path.split(separator: "/").reversed().map(String.init)
    var done: [String] = []
    var links = 0
    while let part = rest.popLast() {
      guard part != "." else { continue }
      guard part != ".." else {
        _ = done.popLast()
        continue
      }
      let place = "\(self.path)/\((done + [part]).joined(separator: "/"))"
      var info = stat()
      guard lstat(place, &info) == 0 else { throw .last }
      guard info.st_mode & S_IFMT == S_IFLNK else {
        done.append(part)
        continue
      }
      links += 1
      guard links <= Self.mostLinks else { throw ErrorNumber(ELOOP) }
      let target = try Self.target(of: place)
      if target.hasPrefix("/") { done = [] }
      rest += target.split(separator: "/").reversed().map(String.init)
    }
    return "/" + done.joined(separator: "/")
  }

  private static func target(of place: String) throws(ErrorNumber) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink(place, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
    }
    guard count >= 0 else { throw .last }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// A regular file's bytes and its status, up to `limit` bytes. The last part of the path may be a link.
  func read(_ path: String, atMost limit: Int) throws(ErrorNumber) -> (bytes: [UInt8], status: stat) {
    let place = self.path + (try resolve(path))
    let descriptor = open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw .last }
    guard info.st_mode & S_IFMT == S_IFREG else { throw ErrorNumber(info.st_mode & S_IFMT == S_IFDIR ? EISDIR : ENXIO) }
    return (try WholeTransfer.read(from: descriptor, atMost: limit), info)
  }

  /// The status of what a path leads to; nil if there is nothing.
  func status(_ path: String) -> stat? {
    var info = stat()
    guard let place = try? resolve(path), lstat(self.path + place, &info) == 0 else { return nil }
    return info
  }

  /// What a symbolic link itself says; nil if the path is not a link.
  func link(_ path: String) -> String? {
    let parts = path.split(separator: "/")
    guard let last = parts.last, let folder = try? resolve(parts.dropLast().joined(separator: "/")) else { return nil }
    return try? Self.target(of: "\(self.path)\(folder == "/" ? "" : folder)/\(last)")
  }

  /// The names in a folder, sorted; nil if there is no such folder.
  func names(_ path: String) throws(ErrorNumber) -> [String]? {
    do throws(ErrorNumber) { return try DirectoryNames.list(at: self.path + (try resolve(path))) } catch {
      guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
      return nil
    }
  }
}
