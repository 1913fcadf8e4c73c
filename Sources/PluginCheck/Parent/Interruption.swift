import CPluginCheck
import Glibc
import HostThreads

/// Ends an interrupted check (SIGINT, SIGTERM, SIGHUP): kills its processes and removes its folder.
final class Interruption: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var processes: Set<pid_t> = []
  private let signals: Int32

  /// Catches the signals until ``end()``. A caught signal has no effect before ``watch(removing:)``.
  init() throws(CheckFailure) {
    signals = taskhost_check_catch_signals()
    guard signals >= 0 else { throw CheckFailure("cannot catch signals: \(String(cString: strerror(errno)))") }
  }

  deinit { close(signals) }

  /// From now on, a signal ends the process and removes `folder`.
  func watch(removing folder: CheckFolder) throws(HostThread.Failure) {
    try HostThread.start("interruption") { [self] in
      var number: UInt8 = 0
      var count = read(signals, &number, 1)
      while count < 0, errno == EINTR { count = read(signals, &number, 1) }
      if count == 1 { leave(by: Int32(number), removing: folder) }
    }
  }

  /// Records the start of a case process, the leader of its group.
  func began(_ process: pid_t) { monitor.locked { _ = processes.insert(process) } }

  /// Records the end of a case process and its group.
  func ended(_ process: pid_t) { monitor.locked { _ = processes.remove(process) } }

  /// Ends the watch. Call it after removing the folder. Does not return if the check was interrupted, because its result is then invalid.
  func end() { monitor.locked { taskhost_check_release_signals() } }

  /// Cleans up and ends the process by the signal, as the signal's sender expects.
  private func leave(by number: Int32, removing folder: CheckFolder) {
    // Keep the lock, so that no more processes start.
    monitor.lock()
    for process in processes { kill(-process, SIGKILL) }
    // A killed process can finish its current system call, and another thread may be creating a case's folder.
    for process in processes {
      var information = siginfo_t()
      while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }
    folder.removeWhileUsed()
    signal(number, SIG_DFL)
    // Host threads block this signal.
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
  }
}
