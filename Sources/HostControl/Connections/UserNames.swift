import Glibc
import HostThreads
import Synchronization

/// The names of users, from the system's user database.
enum UserNames {
  /// What was found out; each user is asked for once by a host process.
  private static let known = Mutex<[UInt32: String]>([:])
  private static let mostKnown = 256

  /// `anna (user 1000)`; `user 1000` if the user has no name. The database may be on another machine, so a thread of its own asks it.
  static func words(for user: UInt32) async -> String {
    if let words = known.withLock({ $0[user] }) { return words }
    let name: String? = await withCheckedContinuation { continuation in
      do { try HostThread.start("user-name") { continuation.resume(returning: Self.name(of: user)) } } catch {
        continuation.resume(returning: nil)
      }
    }
    let words = name.map { "\($0) (user \(user))" } ?? "user \(user)"
    known.withLock { known in
      if known.count >= mostKnown { known = [:] }
      known[user] = words
    }
    return words
  }

  /// nil for a user without an entry, and for a name longer than those of people.
  private static func name(of user: UInt32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil else { return nil }
      guard let name = entry.pw_name.map({ String(cString: $0) }), !name.isEmpty, name.utf8.count <= 200 else { return nil }
      return name
    }
  }
}
