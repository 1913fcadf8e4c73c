import Glibc
import HostThreads
import Logging
import TaskHost
import TaskModel

/// What the signals of a host ask for. The first SIGTERM or SIGINT drains the host. One for a host that drains already stops the live runs by
/// force, and a second one ends a host that has not launched yet. SIGHUP reloads the host; SIGUSR1 and SIGUSR2 are ignored.
///
/// A thread waits for the signals: a source of Dispatch would keep a pool of threads, one of which wakes every second.
final class HostSignals: Sendable {
  /// On these, Swift's runtime would make a backtrace: it stops the process and waits for another program, whatever `SWIFT_BACKTRACE` says.
  /// A host must end instead, so that its supervisor can start it again.
  private static let fatal = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
  /// The default action of these is to end the process. They mean nothing to a host, and no task may be lost because of one. Among them is the limit on
  /// file sizes (ulimit -f), which a write reports as an error. Programs that the host starts get the default dispositions.
  private static let meaningless = [SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ]
  /// These wait in the kernel until the thread takes them.
  private static let heeded = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2"]

  private struct State {
    /// Nil until it has launched.
    var host: Host?
    var isAskedToEnd = false
  }

  private let state = Guarded(State())
  private let log: Logger
  private let writer: LogWriter

  /// Sets the dispositions. Call this on the main thread before any other thread starts: new threads inherit the blocked signals.
  static func prepare() {
    for number in fatal { signal(number, SIG_DFL) }
    for number in meaningless { signal(number, SIG_IGN) }
    var set = heededSet
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Heeds the signals from now on, and those that have arrived since ``prepare()``.
  ///
  /// - Parameter writer: Writes messages for a person at the terminal.
  init(log: Logger, writer: LogWriter) throws(HostThread.Failure) {
    self.log = log
    self.writer = writer
    try HostThread.start("signals") { [self] in
      var set = Self.heededSet
      var number: Int32 = 0
      while sigwait(&set, &number) == 0 { if let name = Self.heeded[number] { take(number, name) } }
    }
  }

  /// The host has launched; drains it if it was asked to end meanwhile.
  func serve(_ host: Host) {
    let isAskedToEnd = state.withLock { state in
      state.host = host
      return state.isAskedToEnd
    }
    if isAskedToEnd { host.shutdown() }
  }

  private func take(_ number: Int32, _ name: String) {
    guard number == SIGTERM || number == SIGINT else {
      return number == SIGHUP ? reload() : log.notice("\(name) is ignored")
    }
    let (host, isFirst) = state.withLock { state in
      defer { state.isAskedToEnd = true }
      return (state.host, !state.isAskedToEnd)
    }
    switch (host, isFirst) {
    case (nil, true): log.notice("\(name): the host ends as soon as it has launched; a second signal ends it now")
    case (nil, false):
      log.notice("\(name): the host ends before it has launched")
      writer.flush(within: .seconds(1))
      Self.end(by: number)
    case (let host?, true) where !host.isAskedToEnd:
      log.notice("\(name): shutting down")
      host.shutdown()
      if Terminal.errorIsTerminal { Task { await sayWhatRuns(host) } }
    case (let host?, _): host.forceDrain()
    }
  }

  /// The host logs what becomes of it.
  private func reload() {
    guard let host = state.withLock({ $0.host }) else {
      return log.notice("SIGHUP is ignored: the host launches, and reads everything anyway")
    }
    Task { await host.reload(because: .hangup) }
  }

  /// Ends the process as the signal would without this class, so that a supervisor sees what ended it.
  private static func end(by number: Int32) {
    signal(number, SIG_DFL)
    var set = heededSet
    kill(getpid(), number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Tells a person at the terminal what the host waits for.
  private func sayWhatRuns(_ host: Host) async {
    let runs = (try? await host.runs(RunQuery()).records.filter { $0.outcome == nil }) ?? []
    let names = runs.map(\.identifier.rawValue) + host.heldAssertions().map(\.request.name)
    guard !names.isEmpty else { return }
    writer.write("waiting for \(names.joined(separator: ", ")); press Ctrl-C again to force")
  }

  private static var heededSet: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in heeded.keys { sigaddset(&set, number) }
    return set
  }
}
