import Glibc

/// Signals that mean nothing to a host, and would end it at once, without a drain: timers that nobody has set, descriptors that nobody asked
/// to be told of, a file that may not grow any more (ulimit -f), which is an error of the write. The programs that a host starts get them as
/// usual.
enum IdleSignals {
  private static let numbers = [SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ]

  /// Once, before anything is started.
  static func ignore() { for number in numbers { signal(number, SIG_IGN) } }
}
