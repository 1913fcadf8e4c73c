/// What is mounted where, as this process sees it: what is at a path, whatever the path is called.
public struct MountTable: Sendable {
  /// A line of `/proc/PID/mountinfo`.
  struct Mount {
    let number: Int
    /// The mount that its point is on.
    let parent: Int
    /// The file system.
    let device: String
    /// What of the file system is shown: a path in it.
    let root: String
    /// Where it is shown.
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

    /// `\040` and the like are one byte.
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

  /// A place in a file system. All paths that lead to it, by whatever mount, have the same.
  public struct Spot: Sendable, Hashable {
    let device: String
    let path: String

    /// Whether it is below `other`, and not the same.
    public func isBelow(_ other: Spot) -> Bool { device == other.device && PathOrder.isBelow(path, other.path) }
  }

  let mounts: [Mount]

  /// - Parameter text: What `/proc/PID/mountinfo` says. Lines that are none are left out.
  public init(_ text: String) { mounts = text.split(separator: "\n").compactMap { Mount($0) } }

  /// As it is now; empty where the system does not say.
  public static func current() -> MountTable { MountTable((try? CgroupFile.read("/proc/self/mountinfo", atMost: 16 << 20)) ?? "") }

  /// What is at the absolute path, which has no links in it and need not exist; nil: that is not known.
  public func spot(of path: String) -> Spot? {
    let numbers = Set(mounts.map(\.number))
    guard var mount = mounts.first(where: { $0.point == "/" && !numbers.contains($0.parent) }) else { return nil }
    mount = uppermost(on: mount, at: "/")
    var here = ""
    for step in path.split(separator: "/") {
      here += "/" + step
      mount = uppermost(on: mount, at: here)
    }
    let rest = here.dropFirst(mount.point == "/" ? 0 : mount.point.count)
    return Spot(device: mount.device, path: mount.root == "/" ? (rest.isEmpty ? "/" : String(rest)) : mount.root + rest)
  }

  /// What is at the path, first, then what is mounted below it.
  public func spots(under path: String) -> [Spot] {
    (spot(of: path).map { [$0] } ?? [])
      + mounts.filter { PathOrder.isBelow($0.point, path) }.map { Spot(device: $0.device, path: $0.root) }
  }

  /// What is mounted there over `mount`, and over that again.
  private func uppermost(on mount: Mount, at point: String) -> Mount {
    var mount = mount
    for _ in mounts {
      guard let next = mounts.first(where: { $0.parent == mount.number && $0.point == point && $0.number != mount.number }) else { break }
      mount = next
    }
    return mount
  }
}
