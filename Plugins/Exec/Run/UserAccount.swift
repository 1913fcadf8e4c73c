internal import CExec
import Glibc

/// A user of the machine, as the user database describes it.
struct UserAccount: Sendable {
  let user: UInt32
  let group: UInt32
  let name: String
  let home: String

  /// The user of this process; nil if the database does not know it.
  static func own() -> UserAccount? { try? find(nil) }

  /// - Throws: ``StartFailure`` if there is no such user.
  static func named(_ name: String) throws(StartFailure) -> UserAccount { try find(name) }

  private static func find(_ name: String?) throws(StartFailure) -> UserAccount {
    var found = taskhost_exec_account()
    let shown = name ?? "\(geteuid())"
    return try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { buffer throws(StartFailure) in
      let code = taskhost_exec_account_of(name, geteuid(), &found, buffer.baseAddress, buffer.count)
      guard code <= 0 else { throw StartFailure(description: "there is no user \(shown)") }
      guard code == 0 else {
        throw StartFailure(description: "the user \(shown) cannot be looked up: \(String(cString: strerror(-code)))", isTemporary: true)
      }
      func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
      return UserAccount(user: found.user, group: found.group, name: text(found.name), home: text(found.home))
    }
  }

  /// All its groups.
  func groups() throws(StartFailure) -> [UInt32] {
    var groups = [UInt32](repeating: 0, count: 65_536)
    let count = taskhost_exec_groups_of(name, group, &groups, UInt64(groups.count))
    guard count >= 0 else {
      throw StartFailure(
        description: "the groups of \(name) cannot be looked up: \(String(cString: strerror(Int32(-count))))", isTemporary: true)
    }
    return Array(groups.prefix(Int(count)))
  }
}
