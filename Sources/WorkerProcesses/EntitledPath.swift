import CTaskHostSystem
import Glibc
import StrictText

/// What a path of an entitlement stood for when the host launched. For each worker it is opened anew, and it must be that still.
///
/// Links are followed here and never again: a plugin that may write on the way to the path could put a link to anything there. A folder must
/// be the very one that it was. A file may have been replaced in its folder, as editors do it, and what was not there may have come by now,
/// but neither by a link.
public struct EntitledPath: Sendable, Hashable {
  /// Why it cannot be opened.
  enum Trouble: Error, Hashable {
    /// There is nothing, or nothing that the host can reach: it gives nothing.
    case absent(Int32)
    /// Something else is there, a sentence: no worker is started with it.
    case replaced(String)
  }

  /// What it comes from, for sentences: `entitlements.write`.
  public let source: String
  /// The path without links.
  public let path: String
  /// Where the links were that led there, each a path without links.
  public let links: [String]

  /// The last folder on the way that was there: the path itself, or what holds it.
  private let folder: [String]
  private let folderIdentity: Identity?
  /// What follows ``folder``.
  private let rest: [String]
  private let isFile: Bool
  /// Folders that are made in it where they are missing; nil: it is not made itself.
  private let madeWith: [String]?

  private struct Identity: Hashable {
    let device: UInt
    let inode: UInt

    init(_ status: stat) { (device, inode) = (UInt(status.st_dev), UInt(status.st_ino)) }
  }

  private static let mostLinks = 40

  /// What the absolute path `configured` stands for now.
  public init(_ configured: String, source: String) { self.init(configured, source: source, making: [], with: nil) }

  /// A plugin's own folder, which is made where it is missing.
  ///
  /// - Parameters:
  ///   - names: Its name in `parent`, a step each.
  ///   - parent: A folder of the host's, which has to be there.
  ///   - folders: What is made in it.
  public static func own(_ names: [String], in parent: String, with folders: [String]) -> Self {
    Self(parent, source: "its data directory", making: names, with: folders)
  }

  private init(_ configured: String, source: String, making names: [String], with folders: [String]?) {
    self.source = source
    madeWith = folders
    var walk = Walk(configured)
    walk.go()
    links = walk.links
    folder = walk.folder
    isFile = walk.isFile
    rest = walk.rest + names
    path = "/" + (walk.folder + rest).joined(separator: "/")
    var status = stat()
    folderIdentity = lstat("/" + walk.folder.joined(separator: "/"), &status) == 0 ? Identity(status) : nil
  }

  /// Follows a path as the kernel would, one step after the other.
  private struct Walk {
    var folder: [String] = []
    var rest: [String] = []
    var links: [String] = []
    var isFile = false
    private var left: [String]

    init(_ path: String) { left = Self.steps(path) }

    /// In reverse: the next step is the last.
    private static func steps(_ path: some StringProtocol) -> [String] { path.parts(between: "/").reversed() }

    mutating func go() {
      while let name = left.popLast() {
        if name == "." { continue }
        if name == ".." {
          _ = folder.popLast()
          continue
        }
        let here = "/" + (folder + [name]).joined(separator: "/")
        var status = stat()
        guard lstat(here, &status) == 0 else { return stop(at: name) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: folder.append(name)
        case S_IFLNK:
          guard links.count < EntitledPath.mostLinks, let target = Self.target(of: here) else { return stop(at: name) }
          links.append(here)
          if target.hasPrefix("/") { folder = [] }
          left += Self.steps(target)
        default:
          isFile = left.isEmpty
          return stop(at: name)
        }
      }
    }

    private mutating func stop(at name: String) { rest = [name] + left.reversed() }

    private static func target(of link: String) -> String? {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4097) { buffer in
        guard let start = buffer.baseAddress else { return nil }
        let length = readlink(link, start, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return String(decoding: buffer[..<length].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
  }

  // MARK: Opening

  /// Opens it without following a link, if it is what it was; the caller owns the descriptor (O_PATH, close-on-exec).
  func open() throws(Trouble) -> Int32 {
    var place = Place(try Self.step("/", in: AT_FDCWD))
    for name in folder { try place.enter(name) }
    guard let folderIdentity else { throw .absent(EACCES) }
    guard Identity(try place.status()) == folderIdentity else {
      throw .replaced("\(place.path) is not the folder that it was when the host launched")
    }
    for name in rest {
      // It was not there when the path was followed, so nobody knows what it goes up from.
      guard name != ".." else { throw .absent(ENOENT) }
      try place.enter(name, making: madeWith != nil)
    }
    if isFile, try place.status().st_mode & S_IFMT == S_IFDIR {
      throw .replaced("\(path) is a folder, and was a file when the host launched")
    }
    for name in madeWith ?? [] { _ = mkdirat(place.descriptor, name, 0o700) }
    return place.take()
  }

  /// Where the walk is; closes its descriptor, unless that was taken.
  private struct Place: ~Copyable {
    private(set) var descriptor: Int32
    private var names: [String] = []

    var path: String { "/" + names.joined(separator: "/") }

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    mutating func enter(_ name: String, making: Bool = false) throws(Trouble) {
      names.append(name)
      if making, mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw .absent(errno) }
      let next = try EntitledPath.step(name, in: descriptor)
      close(descriptor)
      descriptor = next
      guard try status().st_mode & S_IFMT != S_IFLNK else { throw .replaced("\(path) is a link, and was none when the host launched") }
    }

    func status() throws(Trouble) -> stat {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw .absent(errno) }
      return status
    }

    mutating func take() -> Int32 {
      defer { descriptor = -1 }
      return descriptor
    }
  }

  private static func step(_ name: String, in directory: Int32) throws(Trouble) -> Int32 {
    let descriptor = taskhost_system_open_place(directory, name)
    guard descriptor >= 0 else { throw .absent(errno) }
    return descriptor
  }
}
