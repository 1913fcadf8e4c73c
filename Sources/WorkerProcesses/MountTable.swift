import StrictText

/// The mounts that this process sees. They tell whether two paths lead to the same place.
public struct MountTable: Sendable {
  /// A line of `/proc/PID/mountinfo`.
  struct Mount {
    let number: Int
    /// The mount that contains its mount point.
    let parent: Int
    /// The file system.
    let device: String
    /// The part of the file system that is mounted: a path in it.
    let root: String
    /// The mount point.
    let point: String
    let type: String

    /// `36 35 98:0 ROOT POINT options [fields] - TYPE source options`
    init?(_ line: Substring) {
      let fields = line.split(separator: " ")
      guard let separator = fields.firstIndex(of: "-"), separator >= 6, separator + 1 < fields.count, let number = Int(fields[0]),
        let parent = Int(fields[1])
      else { return nil }
      self.number = number
      self.parent = parent
      device = String(fields[2])
      root = Self.unescaped(fields[3])
      point = Self.unescaped(fields[4])
      type = String(fields[separator + 1])
    }

    /// Decodes octal escapes such as `\040`.
    private static func unescaped(_ text: Substring) -> String {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        let digits = rest.prefix(3)
        if byte == UInt8(ascii: "\\"), digits.count == 3, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
          bytes.append(value)
          rest = rest.dropFirst(3)
        } else {
          bytes.append(byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// A place in a file system. It is the same for all paths that lead to it, through any mount.
  public struct Spot: Sendable, Hashable {
    let device: String
    let path: String

    /// Whether it is below `other`, and not the same.
    public func isBelow(_ other: Spot) -> Bool { device == other.device && PathOrder.isBelow(path, other.path) }
  }

  let mounts: [Mount]

  /// - Parameter text: The content of `/proc/PID/mountinfo`. Malformed lines are skipped.
  public init(_ text: String) { mounts = text.split(separator: "\n").compactMap { Mount($0) } }

  /// The current mounts; empty if the system does not list them.
  public static func current() -> MountTable { MountTable((try? CgroupFile.read("/proc/self/mountinfo", atMost: 16 << 20)) ?? "") }

  /// The place at an absolute path without links, which need not exist; nil if it is unknown.
  public func spot(of path: String) -> Spot? {
    let numbers = Set(mounts.map(\.number))
    guard var mount = mounts.first(where: { $0.point == "/" && !numbers.contains($0.parent) }) else { return nil }
    mount = uppermost(on: mount, at: "/")
    var here = ""
    for step in path.parts(between: "/") {
      here += "/" + step
      mount = uppermost(on: mount, at: here)
    }
    let rest = here.dropFirst(mount.point == "/" ? 0 : mount.point.count)
    return Spot(device: mount.device, path: mount.root == "/" ? (rest.isEmpty ? "/" : String(rest)) : mount.root + rest)
  }

  /// The place at the path first, then the mounts below it.
  public func spots(under path: String) -> [Spot] {
    (spot(of: path).map { [$0] } ?? [])
      + mounts.filter { PathOrder.isBelow($0.point, path) }.map { Spot(device: $0.device, path: $0.root) }
  }

  /// The topmost mount at a point, above `mount`.
  private func uppermost(on mount: Mount, at point: String) -> Mount {
    var mount = mount
    for _ in mounts {
      guard let next = mounts.first(where: { $0.parent == mount.number && $0.point == point && $0.number != mount.number }) else { break }
      mount = next
    }
    return mount
  }
}
