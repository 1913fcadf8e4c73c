import StrictText

internal import Glibc

/// The directories that no rule may name, because the system or a person needs their content.
struct ProtectedDirectories: Sendable {
  /// Home directories, with no slash at the end.
  private let homes: [String]

  /// Refused with everything below.
  private static let trees = [
    "/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr",
  ]

  /// Allowed although below one of the trees.
  private static let exceptions = ["/dev/shm", "/usr/local"]

  /// Refused themselves; paths below them are allowed.
  private static let exact = [
    "/", "/home", "/media", "/mnt", "/nix", "/opt", "/root", "/run", "/run/user", "/snap", "/srv", "/usr/local", "/usr/local/bin",
    "/usr/local/etc", "/usr/local/lib", "/usr/local/sbin", "/usr/local/share", "/var", "/var/lib", "/var/spool",
  ]

  init(homes: [String]) { self.homes = homes.filter { $0.hasPrefix("/") && $0 != "/" } }

  /// Protects the home directories of this process's user: those in the user database and in `HOME`.
  static func current() -> ProtectedDirectories {
    var homes: [String] = []
    if let home = getenv("HOME") { homes.append(normalized(String(cString: home)) ?? "") }
    let recorded = UserDatabase.field(of: geteuid()) { $0.pw_dir }
    homes.append(recorded.flatMap(normalized) ?? "")
    return ProtectedDirectories(homes: homes)
  }

  /// The normalised path, or why a rule may not name it.
  func check(_ written: String) -> Result<String, Refusal> {
    func refused(_ reason: String) -> Result<String, Refusal> { .failure(Refusal(text: written, reason: reason)) }
    guard written.utf8.first == UInt8(ascii: "/") else { return refused("is not absolute; write the whole path, beginning with a slash") }
    guard written.utf8.count < 4096, !written.utf8.contains(0) else { return refused("is not a path: too long, or contains a null byte") }
    guard let path = Self.normalized(written) else { return refused("contains \".\" or \"..\"; write the path without them") }
    if Self.exact.contains(path) { return refused("is a directory the system needs; name a directory below it") }
    for tree in Self.trees where Self.isAtOrBelow(path, tree) && !Self.exceptions.contains(where: { Self.isAtOrBelow(path, $0) }) {
      return refused("belongs to the system (\(tree)); nothing below it is cleaned up")
    }
    let parts = path.utf8.split(separator: UInt8(ascii: "/"))
    if homes.contains(where: { Self.isAtOrBelow($0, path) }) || (path.hasPrefix("/home/") && parts.count == 2) {
      return refused("is a home directory or contains one; name a directory below it")
    }
    return .success(path)
  }

  /// Paths of directories that no rule may reach under another name either.
  var identityPaths: [String] { Self.exact + Self.trees + homes }

  /// `path` without repeated or trailing slashes; nil if it contains `.` or `..`.
  private static func normalized(_ path: String) -> String? {
    let parts = path.parts(between: "/")
    guard !parts.contains("."), !parts.contains("..") else { return nil }
    return "/" + parts.joined(separator: "/")
  }

  private static func isAtOrBelow(_ path: String, _ ancestor: String) -> Bool { path == ancestor || path.hasPrefix(ancestor + "/") }
}
