import Synchronization
import TaskModel

/// Counts what became of notifications since the host's start, by the names of their rules.
final class NoticeCounts: Sendable {
  private struct State {
    var counts: [NoticeCount: Int] = [:]
    /// The rules whose notifications are requests of the host's own identifiers, by these.
    var rules: [TaskIdentifier: String] = [:]
  }

  private let state = Mutex(State())

  init(_ rules: [NoticeRule]) { set(rules) }

  /// Counts for these rules from now on. Counts of others stay.
  func set(_ rules: [NoticeRule]) {
    let own = rules.compactMap { rule in rule.target.map { (rule, $0) } }
      .filter { $1.rawValue.hasPrefix("\(TaskIdentifier.notifications).") }
    state.withLock { state in
      state.rules = Dictionary(own.map { ($1, $0.name) }) { first, _ in first }
      for rule in rules where rule.target != nil { state.counts[NoticeCount(rule: rule.name, outcome: .submitted), default: 0] += 0 }
    }
  }

  /// Counts what became of incidents.
  func note(_ step: NoticeStep, of rule: String) {
    switch step {
    case .submitted: add(.submitted, rule)
    case .grouped: add(.grouped, rule)
    case .refused: add(.refused, rule)
    }
  }

  /// Counts an attempt to deliver, if it is one.
  func note(_ run: RunRecord) {
    guard let rule = state.withLock({ $0.rules[run.identifier] }), let outcome = run.outcome else { return }
    switch outcome {
    case .succeeded, .noop: add(.delivered, rule)
    case .retried, .expired, .crashed, .lost: add(.retried, rule)
    case .failed: add(.failed, rule)
    case .snoozed, .cancelled, .stopped: break
    }
  }

  private func add(_ outcome: NoticeCount.Outcome, _ rule: String) {
    state.withLock { $0.counts[NoticeCount(rule: rule, outcome: outcome), default: 0] += 1 }
  }

  /// The counts so far.
  var current: [NoticeCount: Int] { state.withLock { $0.counts } }
}
