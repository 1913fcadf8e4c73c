import Logging
import Synchronization
import TaskModel
import TaskScheduler

/// Passes on what launcher and scheduler tell, which are made before the host is.
final class EventRelay: Sendable {
  private let log: Logger
  private let host = Mutex<Weak?>(nil)
  private struct Weak { weak var host: Host? }

  init(log: Logger) { self.log = log }

  func connect(_ host: Host) { self.host.withLock { $0 = Weak(host: host) } }

  func receive(_ event: LauncherEvent) { host.withLock { $0?.host }?.receive(event) }

  func receive(_ identifier: TaskIdentifier, _ standing: Standing) { host.withLock { $0?.host }?.receive(identifier, standing) }

  func receive(_ notice: Scheduler.Notice) {
    guard let host = host.withLock({ $0?.host }) else {
      if case .storeFailed(let error) = notice { log.critical("\(error)") }
      return
    }
    host.receive(notice)
  }
}
