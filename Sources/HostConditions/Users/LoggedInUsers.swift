import HostThreads

/// The users who are logged in, as systemd-logind notes them.
///
/// - Source: logind keeps a file for each user in this directory, named by its number, with lines `NAME=` and `STATE=`
///   (`user_save_internal` in logind-user.c). It replaces the file as a whole.
public enum LoggedInUsers {
  /// The directory of the notes. It is missing where logind does not run.
  public static let directory = "/run/systemd/users"
  /// The users in one of these states have a session.
  private static let states: Set<Substring> = ["active", "online"]
  /// How many notes are read.
  private static let limit = 10_000

  /// The names of the users with a session; none if there is no directory.
  public static func read(_ directory: String = directory) -> Set<String> {
    var users: Set<String> = []
    let numbers = ((try? DirectoryNames.list(at: directory)) ?? []).filter { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
    for number in numbers.prefix(limit) {
      guard let text = TextFile.read("\(directory)/\(number)") else { continue }
      var values: [Substring: Substring] = [:]
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { values[parts[0]] = parts[1] }
      }
      guard let state = values["STATE"], states.contains(state) else { continue }
      users.insert(values["NAME"].map(String.init) ?? number)
    }
    return users
  }
}
