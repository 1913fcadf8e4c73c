import Glibc
import TaskHost

/// Which configuration a program takes that was not told one, or was.
enum ConfigurationChoice: Equatable {
  /// A file, which need not exist if it was named.
  case file(String)
  /// Every default, relative to the working directory.
  case defaults

  private static let here = "taskhost.toml"
  private static let installed = "/etc/taskhost/taskhost.toml"

  /// The configuration of `taskhost run`: the named file, or that of the working directory, or the defaults.
  static func ofHost(_ file: String?) -> Self {
    if let file { return .file(file) }
    return exists(here) ? .file(here) : .defaults
  }

  /// The configuration of a command: as for the host. Where no host has ever run in the working directory, that of the machine's host, as a
  /// package installs it.
  static func ofCommand(_ file: String?) -> Self {
    if let file { return .file(file) }
    // A user who may not look into the working directory, as after `sudo -u`, means nothing that is there.
    if exists(here), access(".", X_OK) == 0 { return .file(here) }
    if access("state/control.sock", F_OK) == 0 || access("state/taskhost.sqlite", F_OK) == 0 { return .defaults }
    return exists(installed) ? .file(installed) : .defaults
  }

  /// Whether something is there, even what cannot be read: a link that leads nowhere is no reason for the defaults.
  private static func exists(_ file: String) -> Bool {
    var info = stat()
    return lstat(file, &info) == 0 || errno != ENOENT
  }

  func load() throws(ConfigurationError) -> HostConfiguration {
    switch self {
    case .file(let file): try HostConfiguration.load(file: file)
    case .defaults: .defaults()
    }
  }

  /// How messages name it.
  var text: String {
    switch self {
    case .file(let file): file
    case .defaults: "the defaults"
    }
  }
}
