import Glibc
import HostThreads
public import TaskStore

/// For commands that look after the store.
extension StateDirectory {
  /// The user as whom the host of that state directory runs. Root looks after the hosts of others: for root, it is the directory's owner, for
  /// everybody else the caller.
  public static func hostUser(of path: String) -> UInt32 {
    var info = stat()
    return geteuid() == 0 && stat(path, &info) == 0 ? info.st_uid : geteuid()
  }

  /// The place of the store in the configured state directory, neither of which need exist.
  public static func store(of configuration: HostConfiguration) -> StorePlace {
    let path = RealPath.of(configuration.stateDirectory) ?? configuration.stateDirectory
    let second = configuration.storeMark.map { [$0] } ?? []
    return StorePlace(database: path + "/taskhost.sqlite", marks: [path + "/store.mark"] + second)
  }

  /// Creates the configured folder if necessary, and locks it for a command that replaces the store.
  ///
  /// - Throws: A ``HostFailure`` if a host uses it, it belongs to another user, or it is not writable.
  public convenience init(forChangesTo configuration: HostConfiguration) throws(HostFailure) {
    try Self.checkOwner(configuration.stateDirectory)
    try self.init(configuration.stateDirectory)
    if let mark = configuration.storeMark { try Self.check(mark: mark, outsideOf: path) }
  }

  /// The host could not open files that belong to another user, such as root.
  private static func checkOwner(_ path: String) throws(HostFailure) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_uid != geteuid() else { return }
    let name = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "#\(status.st_uid)"
    throw HostFailure(
      .configuration,
      "state directory \(path): it belongs to \(name), and the store has to as well: run this as that user (sudo -u \(name) taskhost …)")
  }
}
