import Glibc
import TaskHost

/// Root looks at files as the host's user would: as the owner of the state directory.
enum UserSwitch {
  /// Why this process stays what it is, as a sentence.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes this process, for good, one of the user who owns the configuration's state directory. Does nothing unless it runs as root and
  /// another user owns that.
  static func become(ownerOf configuration: HostConfiguration) throws(Failure) {
    let user = StateDirectory.hostUser(of: configuration.stateDirectory)
    guard user != geteuid() else { return }
    var (entry, found): (passwd, UnsafeMutablePointer<passwd>?) = (passwd(), nil)
    var buffer = [CChar](repeating: 0, count: 1 << 16)
    guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else {
      throw Failure(description: "\(configuration.stateDirectory) belongs to user \(user), who has no name here")
    }
    guard initgroups(name, entry.pw_gid) == 0, setgid(entry.pw_gid) == 0, setuid(user) == 0
    else {
      throw Failure(description: "this process cannot become user \(String(cString: name)): \(String(cString: strerror(errno)))")
    }
  }
}
