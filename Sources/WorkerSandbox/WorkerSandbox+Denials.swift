import CWorkerSandbox
import Synchronization

extension WorkerSandbox {
  /// In a struct, because each access to a plain closure in a `Mutex` wraps it once more.
  private struct Observer {
    var report: (@Sendable (String) -> Void)?
  }

  private static let observer = Mutex(Observer())

  /// Calls `report` from now on when the sandbox denies a call, with a sentence that names the entitlement that would allow it.
  ///
  /// `report` runs on the thread of the denied call, before that returns, at most once for each sentence and at most 64 times in a process.
  /// Only calls through the C library are seen, and only in a program that links `CWorkerDenials`.
  public static func observeDenials(_ report: @escaping @Sendable (String) -> Void) {
    observer.withLock { $0.report = report }
    taskhost_sandbox_observe { sentence in
      guard let sentence else { return }
      let report = WorkerSandbox.observer.withLock { $0.report }
      report?(String(cString: sentence))
    }
  }
}
