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

  func receive(_ event: LauncherEvent) {
    guard let host = host.withLock({ $0?.host }) else { return writeDown(event) }
    host.receive(event)
  }

  func receive(_ identifier: TaskIdentifier, _ standing: Standing) { host.withLock { $0?.host }?.receive(identifier, standing) }

  func receive(_ notice: Scheduler.Notice) {
    guard let host = host.withLock({ $0?.host }) else {
      if case .storeFailed(let error) = notice { log.critical("\(error)") }
      return
    }
    host.receive(notice)
  }

  /// An event came while plugins launch, before the host is there, or after the host has gone.
  private func writeDown(_ event: LauncherEvent) {
    switch event {
    case .output(let identifier, let line):
      log.log(level: Logger.Level(line.level), "\(line.message)", metadata: line.metadata(["identifier": "\(identifier)"]))
    case .log(let run, let line):
      log.log(
        level: Logger.Level(line.level), "\(line.message)",
        metadata: line.metadata(["identifier": "\(run.identifier)", "run": "\(run.run)"]))
    case .ended(let run, _, let report):
      let message = report.message.map { ": \($0)" } ?? ""
      log.error("the run ended without a host to record it; the next host counts it as lost\(message)", metadata: ["run": "\(run)"])
    case .misbehaved(let identifier, let what, _), .shortage(let identifier, let what, _), .suspended(let identifier, let what):
      log.error("\(what)", metadata: ["identifier": "\(identifier)"])
    case .began, .withdrawn, .expired, .progress, .stuck, .relieved, .resumed:
      log.debug("an event of the launcher came without a host")
    }
  }
}
