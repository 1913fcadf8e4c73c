import CPluginCheck
import Glibc
import HostThreads

/// Ends a check that is interrupted (SIGINT, SIGTERM, SIGHUP): no process of it is left, nor its folder.
final class Interruption: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var processes: Set<pid_t> = []
  private let folder: CheckFolder
  private var before = sigset_t()
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  /// Takes the signals away from the calling thread and those it starts, until ``end()`` on the same thread.
  init(removing folder: CheckFolder) throws(HostThread.Failure) {
    self.folder = folder
    let awaited = Self.set
    withUnsafePointer(to: awaited) { _ = pthread_sigmask(SIG_BLOCK, $0, &before) }
    try HostThread.start("interruption") { [self] in
      var awaited = awaited
      var number: Int32 = 0
      guard sigwait(&awaited, &number) == 0 else { return }
      leave(by: number)
    }
  }

  /// A case process has been started: the leader of its group.
  func began(_ process: pid_t) { monitor.locked { _ = processes.insert(process) } }

  /// A case process has ended, with its group.
  func ended(_ process: pid_t) { monitor.locked { _ = processes.remove(process) } }

  /// The check is over, and its folder removed.
  func end() { pthread_sigmask(SIG_SETMASK, &before, nil) }

  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in signals { sigaddset(&set, number) }
    return set
  }

  /// Dies of the signal, as who sent it expects.
  private func leave(by number: Int32) {
    // The lock is kept: nothing is started any more.
    monitor.lock()
    for process in processes { kill(-process, SIGKILL) }
    folder.remove()
    signal(number, SIG_DFL)
    var set = Self.set
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
  }
}
