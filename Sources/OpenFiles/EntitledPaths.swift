import Glibc
public import TaskModel

/// Which paths a plugin is entitled to, as its sandbox has them.
public struct EntitledPaths: Sendable, Hashable {
  private var read: [String]
  private var write: [String]

  /// Everything: a plugin in a thread of the host reaches what the host does.
  public static let everything = EntitledPaths(read: [], write: ["/"])

  /// - Parameters:
  ///   - read: Absolute paths that may be read.
  ///   - write: Absolute paths that may be changed.
  public init(read: [String], write: [String]) {
    self.read = read
    self.write = write
  }

  /// What a worker may reach: its entitlements and its data directory.
  public init(_ confinement: Confinement) {
    self.init(read: confinement.read, write: confinement.write + (confinement.dataDirectory.map { [$0] } ?? []))
  }

  /// Both.
  public func union(_ other: EntitledPaths) -> EntitledPaths { EntitledPaths(read: read + other.read, write: write + other.write) }

  /// How far an absolute path is entitled; one with `.` or `..` is not at all.
  public func entitlement(to path: String) -> PathEntitlement {
    guard path.utf8.first == UInt8(ascii: "/"), !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else { return [] }
    let path = Self.plain(path)
    if write.contains(where: { Self.holds($0, path) }) { return [.read, .write] }
    return read.contains(where: { Self.holds($0, path) }) ? .read : []
  }

  /// Whether `path` is at or below an entitled one, as that is written or as it is without symlinks.
  private static func holds(_ entitled: String, _ path: String) -> Bool {
    if isAtOrBelow(path, plain(entitled)) { return true }
    guard let real = realpath(entitled, nil) else { return false }
    defer { free(real) }
    return isAtOrBelow(path, String(cString: real))
  }

  private static func isAtOrBelow(_ path: String, _ top: String) -> Bool {
    path == top || path.hasPrefix(top.last == "/" ? top : top + "/")
  }

  private static func plain(_ path: String) -> String { "/" + path.split(separator: "/").joined(separator: "/") }
}
