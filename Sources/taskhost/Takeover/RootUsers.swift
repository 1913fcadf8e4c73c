import Glibc

/// Which users a machine knows: this machine's database, or `/etc/passwd` below another root. Without such a file, all names count.
struct RootUsers {
  let isUser: @Sendable (String) -> Bool

  init(_ root: RootFolder) {
    if root.isMachine {
      isUser = { name in
        var (entry, found): (passwd, UnsafeMutablePointer<passwd>?) = (passwd(), nil)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { buffer in
          _ = buffer.baseAddress.map { getpwnam_r(name, &entry, $0, buffer.count, &found) }
          return found != nil
        }
      }
    } else if let (bytes, _) = try? root.read("/etc/passwd", atMost: 4 << 20) {
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let names = Set(lines.compactMap { $0.split(separator: ":").first.map(String.init) })
      isUser = { names.contains($0) }
    } else {
      isUser = { _ in true }
    }
  }
}
