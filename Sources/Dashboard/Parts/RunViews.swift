import CalendarTime
import StrictText
import TaskModel

extension View {
  /// A table of runs; nil if there are none.
  ///
  /// - Parameter namesTask: Whether the rows say whose runs they are.
  init?(runs: [RunRecord], caption: String, namesTask: Bool, now: WallTime) {
    guard !runs.isEmpty else { return nil }
    let rows = runs.map { run -> View in
      [
        "href": PagePath.run(run.id), "time": View(time: run.started, now: now), "name": namesTask ? run.identifier.rawValue : nil,
        "badge": View(badge: run.word, tone: run.tone), "duration": run.duration?.words ?? (run.ended == nil ? "" : "unknown"),
        "attempt": run.attempt, "reason": run.reasonWords, "message": ForeignText.short(run.report.message),
      ]
    }
    self = ["caption": caption, "rows": rows]
  }

  /// Runs that go on, with progress and budget; nil if there are none.
  ///
  /// - Parameter contracts: What is known of the handlers.
  init?(live runs: [RunRecord], _ contracts: [TaskIdentifier: HandlerContract], now: WallTime) {
    let live = runs.filter { $0.outcome == nil }
    guard !live.isEmpty else { return nil }
    self = ["rows": live.map { View(live: $0, contracts[$0.identifier], now: now) }]
  }

  private init(live run: RunRecord, _ contract: HandlerContract?, now: WallTime) {
    let budget = contract?.budget.map { budget -> View in
      let ends = (run.report.began ?? run.started) + budget
      let left = max(.zero, ends - now)
      return [
        "max": Int(clamping: budget.wholeMilliseconds / 1000), "value": Int(clamping: left.wholeMilliseconds / 1000),
        "ends": Int(clamping: ends.unixMilliseconds), "whole": budget.words, "of": run.identifier.rawValue,
        "text": left > .zero ? "\(Duration.seconds(left.wholeMilliseconds / 1000).words) left of \(budget.words)" : "budget used up",
      ]
    }
    self = [
      "href": PagePath.run(run.id), "name": run.identifier.rawValue, "attempt": run.attempt,
      "badge": View(badge: run.word, tone: run.tone), "time": View(time: run.report.began ?? run.started, now: now),
      "progress": run.report.progress.map { View(progress: $0, of: run.identifier.rawValue) }
        ?? run.report.work.map { ["text": WorkFormat.words($0), "of": run.identifier.rawValue] },
      "budget": budget, "unlimited": "no budget: it expires when its progress stalls",
    ]
  }

  /// A progress bar: `max` is absent while the total is unknown.
  init(progress: RunProgress, of subject: String) {
    let percent = WorkFormat.percent(completed: progress.completed, total: progress.total)
    self = [
      "max": percent == nil ? nil : 100, "value": percent, "of": subject,
      "text": [WorkFormat.amount(progress), percent.map { "\($0) %" }, progress.message].compactMap(\.self).joined(separator: ", "),
    ]
  }

  /// The lines of a log; nil if there are none.
  init?(log lines: [LogLine]) {
    guard !lines.isEmpty else { return nil }
    let rows = lines.map { line -> View in
      [
        "datetime": RFC3339.format(line.time), "local": MomentFormat.clock(line.time.unixMilliseconds),
        "level": line.stream?.rawValue ?? line.level.rawValue, "said": line.message,
      ]
    }
    self = ["lines": rows]
  }
}

extension RunRecord {
  /// Why it was asked to stop, and how that ended.
  var reasonWords: String? {
    guard let reason = report.stopReason else { return nil }
    let stage = report.stopStage.map { ", \($0.rawValue)" } ?? ""
    return "stopped: \(reason.rawValue)\(stage)"
  }
}

extension WorkFormat {
  static func words(_ work: RunWork) -> String {
    words(
      attempted: work.itemsAttempted, completed: work.itemsCompleted, failed: work.itemsFailed, bytesIn: work.bytesIn,
      bytesOut: work.bytesOut)
  }

  static func amount(_ progress: RunProgress) -> String {
    amount(completed: progress.completed, total: progress.total, unit: progress.unit)
  }
}
