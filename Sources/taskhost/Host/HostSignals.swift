import Glibc

/// The dispositions of signals in a host, set once before anything else starts.
enum HostSignals {
  /// On these, Swift's runtime would make a backtrace: it stops the process and waits for another program, whatever `SWIFT_BACKTRACE` says.
  /// A host must end instead, so that its supervisor can start it again.
  private static let fatal = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
  /// These mean nothing to a host, but would end it without a drain: timers and notifications that it did not request, and the limit on
  /// file sizes (ulimit -f), which a write reports as an error. Programs that the host starts get the default dispositions.
  private static let meaningless = [SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ]

  static func prepare() {
    for number in fatal { signal(number, SIG_DFL) }
    for number in meaningless { signal(number, SIG_IGN) }
  }
}
