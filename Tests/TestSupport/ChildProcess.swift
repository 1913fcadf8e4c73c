internal import CTestSupport
import Dispatch
public import Glibc
import Synchronization

/// A process that a test started. Not by Foundation's `Process`, which takes the whole test process along when many are started at once,
/// and not by an exit test of Swift Testing, whose end is missed when other children of this process end at the same time.
public final class ChildProcess: Sendable {
  /// Its number, which may be another's once it has been waited for.
  public let processID: pid_t
  private let name: String
  /// What it left, once it has been reaped.
  private let status = Mutex<Int32?>(nil)

  /// Starts a program, with no signal blocked or ignored. It inherits no descriptor but those that are given: another test may have a file
  /// open at that moment, and count on being the only one.
  ///
  /// - Parameters:
  ///   - command: The program, by its path or found on PATH, and its arguments.
  ///   - environment: All of it.
  ///   - directory: Where it runs; `nil`: where this process does.
  ///   - descriptors: What its descriptors 0, 1, 2… are.
  public init(_ command: [String], environment: [String: String], directory: String? = nil, descriptors: [Int32]) throws {
    let command = (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + command
    name = command.joined(separator: " ")
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() { posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number)) }
    test_close_from(&actions, Int32(descriptors.count))
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let (arguments, variables) = (command.map { strdup($0) } + [nil], environment.map { strdup("\($0.key)=\($0.value)") } + [nil])
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let error = posix_spawnp(&process, command[0], &actions, &attributes, arguments, variables)
    guard error == 0 else { throw TestFailure("\(name) cannot be started: \(String(cString: strerror(error)))") }
    processID = process
  }

  deinit {
    send(SIGKILL)
    _ = try? wait()
  }

  /// Whether nobody has waited for its end yet.
  public var isRunning: Bool { status.withLock { $0 == nil } }

  /// Sends it a signal, unless it has been waited for.
  public func send(_ signal: Int32) { status.withLock { if $0 == nil { _ = kill(processID, signal) } } }

  /// Blocks until it has ended.
  ///
  /// - Returns: Its exit status; −N when signal N ended it.
  public func wait() throws -> Int32 {
    var information = siginfo_t()
    while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    return try status.withLock { status in
      if let status { return status }
      var raw: Int32 = 0
      while waitpid(processID, &raw, 0) < 0 {
        guard errno == EINTR else { throw TestFailure("\(name): \(String(cString: strerror(errno)))") }
      }
      let ended = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
      status = ended
      return ended
    }
  }

  /// Blocks until it has ended; one that takes longer than `limit` is killed, and that is the error.
  public func wait(within limit: Duration) throws -> Int32 {
    let begin = ContinuousClock.now
    let late = DispatchWorkItem { [self] in send(SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: late)
    defer { late.cancel() }
    let status = try wait()
    if status == -SIGKILL, ContinuousClock.now - begin >= limit { throw TestFailure("\(name) took longer than \(limit) and was killed") }
    return status
  }
}
