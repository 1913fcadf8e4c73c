import Glibc
import StrictText
public import TaskModel

/// The paths that a plugin may use, as in its sandbox.
public struct EntitledPaths: Sendable, Hashable {
  private var read: [String]
  private var write: [String]

  /// Everything, for a plugin in a thread of the host, which can reach whatever the host can.
  public static let everything = EntitledPaths(read: [], write: ["/"])

  /// - Parameters:
  ///   - read: Absolute paths that may be read.
  ///   - write: Absolute paths that may be changed.
  public init(read: [String], write: [String]) {
    self.read = read
    self.write = write
  }

  /// A worker's entitlements, whether the paths exist or not, and its data directory.
  public init(_ confinement: Confinement) {
    self.init(
      read: confinement.read + confinement.absentRead,
      write: confinement.write + confinement.absentWrite + (confinement.dataDirectory.map { [$0] } ?? []))
  }

  /// The entitlements of both.
  public func union(_ other: EntitledPaths) -> EntitledPaths { EntitledPaths(read: read + other.read, write: write + other.write) }

  /// The entitlement to an absolute path, which need not exist; none for a path with `.` or `..`.
  public func entitlement(to path: String) -> PathEntitlement {
    guard path.utf8.first == UInt8(ascii: "/"), !path.parts(between: "/").contains(where: { $0 == "." || $0 == ".." }) else { return [] }
    // A worker's entitlements contain no symlinks; a caller may use the operator's paths, which may.
    let paths = [Self.plain(path)] + (Self.real(path).map { [$0] } ?? [])
    if write.contains(where: { Self.holds($0, paths) }) { return [.read, .write] }
    return read.contains(where: { Self.holds($0, paths) }) ? .read : []
  }

  /// Whether one of the paths is at or below an entitled one, either as written or with symlinks resolved.
  private static func holds(_ entitled: String, _ paths: [String]) -> Bool {
    if paths.contains(where: { isAtOrBelow($0, plain(entitled)) }) { return true }
    guard let real = real(entitled) else { return false }
    return paths.contains { isAtOrBelow($0, real) }
  }

  /// Resolves symlinks. Components that do not exist yet are appended unchanged.
  private static func real(_ path: String) -> String? {
    let names = path.parts(between: "/")
    // How many names there are: a path can have a thousand, and each look at it goes through all of them.
    var (there, most) = (0, names.count)
    var status = stat()
    while there < most {
      let some = (there + most + 1) / 2
      if lstat("/" + names[..<some].joined(separator: "/"), &status) == 0 {
        there = some
      } else {
        guard errno == ENOENT else { return nil }
        most = some - 1
      }
    }
    // A dangling link leads to an unknown place.
    guard let real = realpath("/" + names[..<there].joined(separator: "/"), nil) else { return nil }
    defer { free(real) }
    return plain(([String(cString: real)] + names[there...]).joined(separator: "/"))
  }

  private static func isAtOrBelow(_ path: String, _ top: String) -> Bool {
    path == top || path.hasPrefix(top.last == "/" ? top : top + "/")
  }

  private static func plain(_ path: String) -> String { "/" + path.parts(between: "/").joined(separator: "/") }
}
