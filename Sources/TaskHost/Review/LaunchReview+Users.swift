public import Glibc
import TaskModel

// Whose rights the host has, and whose its commands ask for.

extension LaunchReview {
  /// The user that the host with this configuration runs as, as far as files say: the owner of the state directory.
  ///
  /// nil if the host may run as root, or there is no state directory yet. Whoever is not root counts as the host's user.
  public var hostUser: uid_t? {
    let user = StateDirectory.hostUser(of: stateDirectory)
    return user == 0 ? nil : user
  }

  /// Commands of users that the host cannot become. Those of others than root were refused when the configuration was read.
  func users() -> [Finding] {
    guard let host = hostUser else { return [] }
    return configuration.commands.sorted { $0.key < $1.key }.compactMap { identifier, command -> Finding? in
      guard let name = command.user, let user = getpwnam(name)?.pointee.pw_uid, user != host else { return nil }
      return .obstacle(
        .commands, of: identifier,
        "it runs as \"\(name)\", and the host as \(Self.name(of: host)), whose state directory this is: only root can become another user",
        remedy: "put the command into a host that runs as \(name), and leave user out there")
    }
  }

  /// The user's name, or its number if it has none.
  public static func name(of user: uid_t) -> String { getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "user \(user)" }
}
