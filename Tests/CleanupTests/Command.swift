import Glibc
import Synchronization

/// Programs that tests need around them.
///
/// Between fork and exec a child has a copy of every descriptor of this process, and with it every file open that a test just closed. So
/// children, and whatever must not be copied into one, take turns.
enum Command {
  private static let turn = Mutex(())

  /// Runs `body` while no child is being started.
  static func exclusively<Result: Sendable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try turn.withLock { _ throws(Failure) in try body() }
  }

  /// Waits until no child has a copy of a descriptor that was closed before this call.
  static func settle() { turn.withLock { _ in } }

  /// Runs a program to its end without output. Returns its exit code, or -1 when it could not be started or died of a signal.
  static func run(_ arguments: [String]) -> Int32 {
    exclusively { runNow(arguments) }
  }

  private static func runNow(_ arguments: [String]) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let copies = arguments.map { strdup($0) } + [nil]
    defer { copies.forEach { free($0) } }
    var child = pid_t()
    guard posix_spawnp(&child, arguments[0], &actions, nil, copies, environ) == 0 else { return -1 }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 { if errno != EINTR { return -1 } }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1
  }

  /// Whether this process may mount file systems: tried, in a directory of its own.
  static let canMount: Bool = {
    guard geteuid() == 0, let tree = try? TestTree() else { return false }
    guard run(["mount", "-t", "tmpfs", "none", tree.path]) == 0 else { return false }
    return run(["umount", "-l", tree.path]) == 0
  }()

  /// Whether files can be made immutable below /tmp: tried. Even root may not remove such a file.
  static let canMakeImmutable: Bool = {
    guard geteuid() == 0, let tree = try? TestTree(), (try? tree.file("probe")) != nil else { return false }
    return run(["chattr", "+i", tree.absolute("probe")]) == 0 && run(["chattr", "-i", tree.absolute("probe")]) == 0
  }()
}
