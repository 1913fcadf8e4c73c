import Glibc
import HostConditions
import HostThreads
import Logging
import TaskModel

/// Tells people and programs from memory, as `[[notify]]` says, of what a restart may lose: the progress of runs, and everything that a
/// desktop shows. Of all else, the scheduler's requests tell. Every method returns at once.
final class Notifier: Sendable {
  /// Someone who is told.
  private struct Receiver {
    let tellsContinued: Bool
    let tellsStore: Bool
    /// The table's name.
    let name: String
    /// The incidents that it is told of from memory; nil for none.
    let incidents: NoticeRule?
    let queue: NoticeQueue
  }

  private let receivers: [Receiver]
  /// The machine's name.
  private let host: String
  /// The handlers of the kind `continued`.
  private let continued: Set<TaskIdentifier>
  private let names: [TaskIdentifier: String]

  /// - Returns: nil if nobody is told from memory.
  init?(_ configuration: HostConfiguration, contracts: [HandlerContract], log: Logger) throws(HostFailure) {
    let rules = configuration.noticeRules
    var receivers: [Receiver] = []
    for (index, table) in configuration.notify.enumerated() where table.isTold {
      let name = configuration.noticeName(index)
      receivers.append(
        Receiver(
          tellsContinued: table.on.contains(.continued), tellsStore: table.on.contains(.store), name: name,
          incidents: rules.first { $0.name == name && $0.target == nil },
          queue: try NoticeQueue("notify[\(index)]", log: log, deliver: Self.delivery(of: table))))
    }
    guard !receivers.isEmpty else { return nil }
    self.receivers = receivers
    host = configuration.hostName
    continued = Set(contracts.filter { $0.kind == .continued }.map(\.identifier))
    names = Dictionary(contracts.compactMap { contract in contract.displayName.map { (contract.identifier, $0) } }) { first, _ in first }
  }

  private static func delivery(of rule: NotifyRule) -> NoticeQueue.Deliver {
    guard let socket = rule.bus else {
      let (words, environment) = rule.delivery(by: HostConfiguration.notifyProgram)
      // What delivers has time limits of its own.
      let patience = rule.command.isEmpty ? 40_000 : NoticeCommand.usualPatience
      let command = NoticeCommand(patience: patience, words: words, environment: environment)
      return { notice, stopper in
        var pause: Int32 = 5
        while true {
          do { return try command.run(notice.json, environment: notice.environment, stopper: stopper) } catch {
            // Nobody else tells of the store: its notices are tried for some minutes.
            guard notice.event == .store, pause < 300 else { throw error }
            var entry = pollfd(fd: stopper, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, pause * 1000) > 0 { throw error }
            pause *= 2
          }
        }
      }
    }
    let shown = Guarded<[String: UInt32]>([:])
    return { notice, _ in
      let desktop = DesktopNotification(title: notice.title, text: notice.text, percent: notice.percent)
      let number = try desktop.show(on: socket, replacing: shown.withLock { $0[notice.subject] } ?? 0)
      shown.withLock { $0[notice.subject] = notice.isFinal ? nil : number }
    }
  }

  /// A run reported progress.
  func note(_ progress: RunProgress, of run: RunReference) {
    guard continued.contains(run.identifier) else { return }
    var notice = Notice(event: .continued, identifier: run.identifier, name: names[run.identifier])
    (notice.run, notice.request, notice.progress) = (run.run, run.request, progress)
    addContinued(notice)
  }

  /// A run has ended.
  func note(_ record: RunRecord) {
    guard continued.contains(record.identifier), record.outcome != nil else { return }
    var notice = Notice(event: .continued, identifier: record.identifier, name: names[record.identifier])
    (notice.run, notice.request, notice.progress) = (record.id, record.request, record.report.progress)
    (notice.outcome, notice.message) = (record.outcome, record.report.message)
    addContinued(notice)
  }

  private func addContinued(_ notice: Notice) {
    for receiver in receivers where receiver.tellsContinued { receiver.queue.add(notice) }
  }

  /// The store fails, or works again (nil).
  func note(_ failure: StoreError?, at time: WallTime) {
    for receiver in receivers where receiver.tellsStore {
      var notice = Notice(event: .store, identifier: nil)
      notice.sender = (host, receiver.name)
      notice.id = "store-\(time.unixMilliseconds)"
      notice.clause = failure.map { "cannot be written, so no runs start: \("\($0)".escapingControlCharacters)" } ?? "works again"
      receiver.queue.add(notice)
    }
  }

  /// Something has happened.
  func note(_ incident: Incident) {
    guard let event = NotifyRule.Event(rawValue: incident.kind.rawValue) else { return }
    for receiver in receivers where receiver.incidents?.covers(incident) == true {
      var notice = Notice(event: event, identifier: incident.identifier, name: names[incident.identifier])
      (notice.request, notice.outcome, notice.message) = (incident.request, incident.outcome, incident.message)
      (notice.key, notice.clause) = (incident.key, incident.clause)
      receiver.queue.add(notice)
    }
  }

  /// Ends the threads; what waits is not told.
  func stop() { for receiver in receivers { receiver.queue.stop() } }
}

extension NotifyRule {
  /// Whether something is told from memory.
  fileprivate var isTold: Bool { bus != nil || on.contains(.continued) || on.contains(.store) }
}
