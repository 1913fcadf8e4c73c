import HostConditions
import HostThreads
import TaskModel

/// Raises events for users who log in. Those who are logged in when it is made have no event.
final class LoginWatch: Sendable {
  private let users: Guarded<Set<String>>
  private let directory: String
  private let raise: @Sendable (String) -> Void

  /// - Parameter raise: Called with the name of an event, on the caller's thread of ``look()``.
  init(directory: String = LoggedInUsers.directory, raise: @escaping @Sendable (String) -> Void) {
    self.directory = directory
    self.raise = raise
    users = Guarded(LoggedInUsers.read(directory))
  }

  /// Looks who is logged in now. Call it when the directory may have changed.
  func look() {
    let arrived = users.withLock { users in
      let present = LoggedInUsers.read(directory)
      defer { users = present }
      return present.subtracting(users)
    }
    for user in arrived.sorted() where HostEvents.isUser(user) {
      raise(HostEvents.login)
      raise(HostEvents.login(of: user))
    }
  }
}
