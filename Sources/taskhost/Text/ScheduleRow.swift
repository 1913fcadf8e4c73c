import TaskHostClient

/// A row of the table of schedules: one schedule, or several of a plugin that has one for each of many things of a kind.
///
/// The keys say which: `watch/mail` and `watch/crm` are of one kind. A schedule that fails has a row of its own, so that nothing hides it.
struct ScheduleRow {
  /// The schedule. Of several, what ended last, and what starts first.
  let task: ScheduleAnswer
  /// What the column of the schedule says.
  let schedule: String

  static func rows(of tasks: [ScheduleAnswer]) -> [ScheduleRow] {
    var members: [Kind: [ScheduleAnswer]] = [:]
    for task in tasks { if let kind = Kind(task) { members[kind, default: []].append(task) } }
    var shown: Set<Kind> = []
    return tasks.compactMap { task in
      guard let kind = Kind(task), let all = members[kind], all.count > 1 else {
        return ScheduleRow(task: task, schedule: StatusCommand.schedule(task))
      }
      guard shown.insert(kind).inserted else { return nil }
      let repetition = ScheduleText.repetition(task.repetition).map { ": \($0)" } ?? ""
      return ScheduleRow(task: merged(all, task), schedule: "\(kind.name)/*\(repetition) (\(all.count))")
    }
  }

  /// Schedules that are shown together.
  private struct Kind: Hashable {
    let identifier: String
    /// The beginning of the keys.
    let name: String
    let repetition: String?

    /// nil for a schedule that has a row of its own.
    init?(_ task: ScheduleAnswer) {
      guard task.failuresInARow == 0, ScheduleText.configured(task) == nil, let key = task.uniqueKey, let slash = key.firstIndex(of: "/"),
        slash > key.startIndex
      else {
        return nil
      }
      (identifier, name) = (task.identifier, String(key[..<slash].prefix(40)))
      repetition = ScheduleText.repetition(task.repetition)
    }
  }

  /// - Parameter first: One of `all`.
  private static func merged(_ all: [ScheduleAnswer], _ first: ScheduleAnswer) -> ScheduleAnswer {
    let last = all.max { ($0.lastEndedUnixMs ?? .min) < ($1.lastEndedUnixMs ?? .min) } ?? first
    let starts = all.compactMap { task -> Int64? in if case .at(let moment) = task.nextStartUnixMs { moment } else { nil } }
    let next: ScheduleAnswer.Start =
      starts.min().map { .at(unixMs: $0) } ?? (all.contains { $0.nextStartUnixMs == .unknown } ? .unknown : .none)
    return ScheduleAnswer(
      identifier: first.identifier, uniqueKey: first.uniqueKey, request: first.request, repetition: first.repetition, last: last.last,
      expired: last.expired, lastEndedUnixMs: last.lastEndedUnixMs, lastMessage: last.lastMessage, lastWork: last.lastWork,
      lastSuccessUnixMs: all.compactMap(\.lastSuccessUnixMs).max(), failuresInARow: 0, nextStartUnixMs: next, throttled: nil)
  }
}
