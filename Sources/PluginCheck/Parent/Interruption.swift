import CPluginCheck
import Glibc
import HostThreads

/// Ends an interrupted check (SIGINT, SIGTERM, SIGHUP) and removes its processes and its folder.
final class Interruption: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  private let monitor = Monitor()
  private var processes: Set<pid_t> = []
  private let signals: Int32

  /// Blocks the signals in all threads until ``end()``. A signal stays pending until ``watch(removing:)``.
  init() throws(CheckFailure) {
    signals = taskhost_check_catch_signals()
    guard signals >= 0 else { throw CheckFailure("no signal can be waited for: \(String(cString: strerror(errno)))") }
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

  /// A case process has been started: the leader of its group.
  func began(_ process: pid_t) { monitor.locked { _ = processes.insert(process) } }

  /// A case process has ended, with its group.
  func ended(_ process: pid_t) { monitor.locked { _ = processes.remove(process) } }

  /// Ends the watch after the folder was removed. Does not return if the check was interrupted, because its result would then be invalid.
  func end() { monitor.locked { taskhost_check_release_signals() } }

  /// Ends the process by the signal, as its sender expects.
  private func leave(by number: Int32, removing folder: CheckFolder) {
    // Keeps the lock, so that nothing more starts.
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
