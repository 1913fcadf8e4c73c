import Glibc
import HostThreads
import TaskModel

/// The command that `taskhost hold` runs, or the debugger of `taskhost plugins debug`: a child in this process's group, which inherits
/// everything as if the shell had started it.
final class HeldProgram: Sendable {
  /// Why the command could not be started.
  struct Failure: Error {
    /// The exit code that shells and `env` use for it: 127 not found, 126 not to be run.
    let status: Int32
    let reason: String
  }

  /// The exit code, or 128 and the number of the signal that ended it.
  private let status = Awaited<Int32>()

  /// Starts it. ``HeldSignals`` passes signals on to it until it ends.
  init(_ command: [String]) throws(Failure) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = HeldSignals.shared.inherited
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = command.map { strdup($0) } + [nil]
    defer { for text in words { free(text) } }
    let (code, process) = HeldSignals.shared.starting {
      var process = pid_t()
      let code = posix_spawnp(&process, command[0], nil, &attributes, words, environ)
      return (code, process)
    }
    guard code == 0 else { throw Failure(status: code == ENOENT ? 127 : 126, reason: "\(ErrorNumber(code))") }
    do { try HostThread.start("command") { [status] in status.set(Self.wait(for: process)) } } catch {
      // Without a thread, this one waits.
      status.set(Self.wait(for: process))
    }
  }

  /// Waits for its end.
  ///
  /// - Parameter warn: Called once if it has not ended at `deadline`.
  /// - Returns: Its exit code, and whether `warn` was called.
  func end(warningAt deadline: MonotonicTime, _ warn: @escaping @Sendable () -> Void) async -> (status: Int32, isLate: Bool) {
    await withCheckedContinuation { continuation in
      let wait: @Sendable () -> Void = { [status] in
        if let inTime = status.wait(until: deadline) { return continuation.resume(returning: (inTime, false)) }
        warn()
        continuation.resume(returning: (status.wait(), true))
      }
      do { try HostThread.start("deadline", wait) } catch { wait() }
    }
  }

  private static func wait(for process: pid_t) -> Int32 {
    var information = siginfo_t()
    // It stays a zombie for now, so that no signal is passed on to another process with its number.
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    HeldSignals.shared.ended()
    var raw: Int32 = 0
    while waitpid(process, &raw, 0) < 0 { guard errno == EINTR else { return 1 } }
    return raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
  }
}

/// The signals of `taskhost hold`. Those that somebody sends to it are passed on to its command. Those of the terminal (Ctrl-C) go to the
/// command anyway, and `hold` waits for what it does. Without a command they end this process.
final class HeldSignals: Sendable {
  /// Made on the main thread before any other thread starts: new threads inherit the blocked signals.
  static let shared = HeldSignals()

  /// The signals that were blocked before, which the command inherits.
  let inherited: sigset_t
  private let heeded: [Int32]
  private let command = Guarded<pid_t?>(nil)

  private init() {
    // If SIGCHLD were ignored, nobody could learn how the command ended.
    signal(SIGCHLD, SIG_DFL)
    // What is ignored (nohup) stays so, for the command too.
    heeded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2].filter { !Self.isIgnored($0) }
    var (set, before) = (Self.set(heeded), sigset_t())
    pthread_sigmask(SIG_BLOCK, &set, &before)
    inherited = before
  }

  /// Heeds the signals from now on. Without a thread for that, they keep what they do by default.
  func heed() {
    do { try HostThread.start("signals") { [self] in takeForever() } } catch {
      var mask = inherited
      pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
  }

  /// Signals wait while `start` starts the command; its second result is the command's process if its first one is 0.
  fileprivate func starting(_ start: () -> (code: Int32, process: pid_t)) -> (code: Int32, process: pid_t) {
    command.withLock { command in
      let result = start()
      if result.code == 0 { command = result.process }
      return result
    }
  }

  /// The command has ended, and has not been reaped.
  fileprivate func ended() { command.withLock { $0 = nil } }

  private func takeForever() {
    var (set, information) = (Self.set(heeded), siginfo_t())
    while true {
      let number = sigwaitinfo(&set, &information)
      guard number > 0 else { continue }
      command.withLock { command in
        guard let command else { return Self.end(by: number) }
        // Above 0, the kernel sends it: the terminal, to the whole group.
        if information.si_code <= 0 { kill(command, number) }
      }
    }
  }

  private static func end(by number: Int32) {
    signal(number, SIG_DFL)
    var set = set([number])
    kill(getpid(), number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  private static func set(_ numbers: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    return set
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
