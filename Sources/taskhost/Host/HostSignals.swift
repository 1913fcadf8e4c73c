import Glibc
import HostThreads

/// The signals of a host, set up once before anything else starts.
enum HostSignals {
  /// On these, Swift's runtime would make a backtrace: it stops the process and waits for another program, whatever `SWIFT_BACKTRACE` says.
  /// A host must end instead, so that its supervisor can start it again.
  private static let fatal = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
  /// These mean nothing to a host, but would end it without a drain: timers and notifications that it did not request, and the limit on
  /// file sizes (ulimit -f), which a write reports as an error. Programs that the host starts get the default dispositions.
  private static let meaningless = [SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ]

  /// These wait in the kernel until the thread of ``arriving()`` takes them.
  private static let heeded = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2"]

  /// Call this on the main thread before any other thread starts: new threads inherit the blocked signals.
  static func prepare() {
    for number in fatal { signal(number, SIG_DFL) }
    for number in meaningless { signal(number, SIG_IGN) }
    var set = heededSet
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// The names of the signals that arrive from now on, and of those that have arrived since ``prepare()``.
  ///
  /// A thread waits for them: a source of Dispatch would keep a pool of threads, one of which wakes every second.
  static func arriving() throws(HostThread.Failure) -> AsyncStream<String> {
    let (names, arrived) = AsyncStream.makeStream(of: String.self)
    try HostThread.start("signals") {
      var set = heededSet
      var number: Int32 = 0
      while sigwait(&set, &number) == 0 { if let name = heeded[number] { arrived.yield(name) } }
    }
    return names
  }

  private static var heededSet: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in heeded.keys { sigaddset(&set, number) }
    return set
  }
}
