import Glibc

/// The dispositions of signals in a host, set once before anything is started.
enum HostSignals {
  /// Swift's runtime would answer these with a backtrace: it stops the process and waits for another program, whatever `SWIFT_BACKTRACE`
  /// says. A host must end instead, so that whoever started it can start it again.
  private static let fatal = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
  /// These mean nothing to a host, but would end it without a drain: timers and notifications that it did not ask for, and the limit of
  /// file sizes (ulimit -f), which a write reports as an error. The programs that a host starts get the default dispositions.
  private static let meaningless = [SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ]

  static func prepare() {
    for number in fatal { signal(number, SIG_DFL) }
    for number in meaningless { signal(number, SIG_IGN) }
  }
}
