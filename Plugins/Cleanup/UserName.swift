internal import Glibc

/// What people call a user.
enum UserName {
  /// The name in the user database, else the number.
  static func of(_ user: UInt32) -> String {
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> String? in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil,
        let name = entry.pw_name
      else { return nil }
      return String(cString: name)
    }
    return name ?? "user \(user)"
  }
}
