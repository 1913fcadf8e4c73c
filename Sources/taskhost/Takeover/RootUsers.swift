import Glibc
import Takeover

/// Which users a machine knows: this machine's database, or `/etc/passwd` below another root. Without such a file, all names count.
struct RootUsers {
  /// The account that has a name or, for digits alone, a number.
  let account: @Sendable (String) -> UserAccount?

  init(_ root: RootFolder) {
    if root.isMachine {
      account = Self.account
    } else if let (bytes, _) = try? root.read("/etc/passwd", atMost: 4 << 20) {
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let entries = lines.map { $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init) }.filter { $0.count > 3 }
      account = { wanted in
        let column = UserAccount.isNumber(wanted) ? 2 : 0
        return entries.first { $0[column] == wanted }.map { UserAccount(name: $0[0], group: UInt32($0[3])) }
      }
    } else {
      account = { UserAccount.isNumber($0) ? nil : UserAccount(name: $0) }
    }
  }

  /// Whether the machine knows a name.
  func isUser(_ name: String) -> Bool { account(name)?.name == name }

  @Sendable private static func account(_ wanted: String) -> UserAccount? {
    var (entry, found): (passwd, UnsafeMutablePointer<passwd>?) = (passwd(), nil)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      if UserAccount.isNumber(wanted) {
        guard let number = uid_t(wanted) else { return nil }
        getpwuid_r(number, &entry, start, buffer.count, &found)
      } else {
        getpwnam_r(wanted, &entry, start, buffer.count, &found)
      }
      return found.map { UserAccount(name: String(cString: $0.pointee.pw_name), group: $0.pointee.pw_gid) }
    }
  }
}
