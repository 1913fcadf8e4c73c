internal import Glibc

enum UserDatabase {
  /// The user's name, or its number if it has no entry.
  static func name(of user: UInt32) -> String { field(of: user) { $0.pw_name } ?? "user \(user)" }

  /// A text field of a user's entry; nil if there is none.
  static func field(of user: UInt32, _ take: (passwd) -> UnsafeMutablePointer<CChar>?) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil else { return nil }
      return take(entry).map { String(cString: $0) }
    }
  }
}
