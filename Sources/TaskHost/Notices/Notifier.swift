import HostConditions
import HostThreads
import Logging
import TaskModel

/// Tells people and programs of what happens, as `[[notify]]` says. Every method returns at once.
final class Notifier: Sendable {
  private let queues: [(on: Set<NotifyRule.Event>, queue: NoticeQueue)]
  /// The handlers of the kind `continued`.
  private let continued: Set<TaskIdentifier>
  private let names: [TaskIdentifier: String]

  /// - Returns: nil if the configuration has no `[[notify]]`.
  init?(_ rules: [NotifyRule], contracts: [HandlerContract], log: Logger) throws(HostFailure) {
    guard !rules.isEmpty else { return nil }
    continued = Set(contracts.filter { $0.kind == .continued }.map(\.identifier))
    names = Dictionary(contracts.compactMap { contract in contract.displayName.map { (contract.identifier, $0) } }) { first, _ in first }
    var queues: [(on: Set<NotifyRule.Event>, queue: NoticeQueue)] = []
    for (index, rule) in rules.enumerated() {
      let queue = try NoticeQueue("notify[\(index)]", log: log, deliver: Self.delivery(of: rule))
      queues.append((Set(rule.on), queue))
    }
    self.queues = queues
  }

  private static func delivery(of rule: NotifyRule) -> NoticeQueue.Deliver {
    guard let socket = rule.bus else {
      let command = NoticeCommand(words: rule.command)
      return { try command.run($0, stopper: $1) }
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
    add(notice)
  }

  /// A run has ended.
  func note(_ record: RunRecord) {
    guard continued.contains(record.identifier), record.outcome != nil else { return }
    var notice = Notice(event: .continued, identifier: record.identifier, name: names[record.identifier])
    (notice.run, notice.request, notice.progress) = (record.id, record.request, record.report.progress)
    (notice.outcome, notice.message) = (record.outcome, record.report.message)
    add(notice)
  }

  /// A plugin's health has changed.
  func note(_ health: PluginHealth, of identifier: TaskIdentifier) {
    guard health.isQuarantined else { return }
    var notice = Notice(event: .quarantined, identifier: identifier, name: names[identifier])
    notice.message = health.lastTrouble
    add(notice)
  }

  private func add(_ notice: Notice) {
    for (on, queue) in queues where on.contains(notice.event) { queue.add(notice) }
  }

  /// Ends the threads; what waits is not told.
  func stop() { for (_, queue) in queues { queue.stop() } }
}
