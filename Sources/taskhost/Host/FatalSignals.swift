import Glibc

/// What ends a host: signals that Swift's runtime would answer with a backtrace of its own, for which it stops the process and waits for
/// another program. A host that gets one of them ends, so that whoever started it can start it again.
enum FatalSignals {
  private static let numbers = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  /// Takes them from the runtime, whatever `SWIFT_BACKTRACE` says. Once, before anything is started: the host notes most of them later on.
  static func endTheProcess() { for number in numbers { signal(number, SIG_DFL) } }
}
