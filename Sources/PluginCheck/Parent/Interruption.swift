import CPluginCheck
import Glibc
import HostThreads

/// Ends a check that is interrupted (SIGINT, SIGTERM, SIGHUP): no process of it is left, nor its folder.
final class Interruption: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var processes: Set<pid_t> = []
  private let signals: Int32

  /// Takes the signals away from whichever thread they come to, until ``end()``. One that comes is kept until it is known what is to be
  /// removed.
  init() throws(CheckFailure) {
    signals = taskhost_check_catch_signals()
    guard signals >= 0 else { throw CheckFailure("no signal can be waited for: \(String(cString: strerror(errno)))") }
  }

  deinit { close(signals) }

  /// From now on a signal ends the process, and `folder` with it.
  func watch(removing folder: CheckFolder) throws(HostThread.Failure) {
    try HostThread.start("interruption") { [self] in
      var number: UInt8 = 0
      var count = read(signals, &number, 1)
      while count < 0, errno == EINTR { count = read(signals, &number, 1) }
      if count == 1 { leave(by: Int32(number), removing: folder) }
    }
  }

  /// A case process has been started: the leader of its group.
  func began(_ process: pid_t) { monitor.locked { _ = processes.insert(process) } }

  /// A case process has ended, with its group.
  func ended(_ process: pid_t) { monitor.locked { _ = processes.remove(process) } }

  /// The check is over, and its folder removed. Does not return where it was interrupted: what it says then, without its folder, is no result.
  func end() { monitor.locked { taskhost_check_release_signals() } }

  /// Dies of the signal, as who sent it expects.
  private func leave(by number: Int32, removing folder: CheckFolder) {
    // The lock is kept: nothing is started any more.
    monitor.lock()
    for process in processes { kill(-process, SIGKILL) }
    // What is killed may finish the call it is in, and another thread of this process makes the folder of a case.
    for process in processes {
      var information = siginfo_t()
      while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }
    folder.removeWhileUsed()
    signal(number, SIG_DFL)
    // The threads of the host's kind have it blocked.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
  }
}
