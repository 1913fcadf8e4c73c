import CWorkerSandbox
import Synchronization

extension WorkerSandbox {
  /// In a struct: a bare closure in a `Mutex` is wrapped once more with each look at it.
  private struct Observer {
    var report: (@Sendable (String) -> Void)?
  }

  private static let observer = Mutex(Observer())

  /// From now on `report` is called with a sentence when the sandbox denied a call, naming the entitlement that would allow it.
  ///
  /// It is called on the thread of the denied call, before that returns: at most once for each sentence, and at most 64 times in a process.
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
