import CalendarTime
import StrictText
import TaskHostClient
import TaskModel

/// Makes the rows of `taskhost top` from the host's answers. Texts of plugins and submitters are escaped here.
enum TopRows {
  static func tasks(_ status: StatusAnswer, now: Int64) -> [TopRow] {
    status.tasks.map { task in
      let start: Int64? =
        switch task.nextStartUnixMs {
        case .none: nil
        case .unknown: .max
        case .at(let moment): moment
        }
      let next = TopRow.Cell(ScheduleText.next(task, now: now), by: start)
      return TopRow(
        id: "\(task.identifier)/\(task.uniqueKey ?? "")", request: task.request, identifier: task.identifier,
        cells: [
          identifier(task.identifier), text(StatusCommand.schedule(task)), TopRow.Cell(StatusCommand.lastRun(task), isState: true),
          ago(task.lastEndedUnixMs, now), ago(task.lastSuccessUnixMs, now),
          TopRow.Cell(task.failuresInARow > 0 ? "\(task.failuresInARow)" : "-", by: -task.failuresInARow), next,
          text(String((task.lastMessage ?? "").prefix(200))),
        ])
    }
  }

  static func runs(_ runs: [RunAnswer], now: Int64) -> [TopRow] {
    let length = ShortIDText.length(of: runs.map(\.id))
    return runs.map { run in
      let took = run.durationMs ?? max(0, now.subtractingReportingOverflow(run.startedUnixMs).partialValue)
      var progress = run.message ?? ""
      if run.outcome == nil {
        progress = run.progress.map { Self.progress($0) } ?? run.work.map { WorkText.words($0) } ?? ""
      }
      return TopRow(
        id: run.id, request: run.request, run: run.id, identifier: run.identifier,
        cells: [
          TopRow.Cell(String(run.id.prefix(length))), identifier(run.identifier), TopRow.Cell(run.outcome ?? "running", isState: true),
          TopRow.Cell("\(run.attempt)", by: run.attempt), ago(run.startedUnixMs, now),
          TopRow.Cell(DurationFormat.words(milliseconds: run.outcome == nil ? took / 1000 * 1000 : took), by: took), text(progress),
        ])
    }
  }

  static func requests(_ requests: [RequestAnswer], now: Int64) -> [TopRow] {
    let length = ShortIDText.length(of: requests.map(\.id))
    return requests.map { request in
      TopRow(
        id: request.id, request: request.id, identifier: request.identifier,
        cells: [
          TopRow.Cell(String(request.id.prefix(length))), identifier(request.identifier), TopRow.Cell(request.shownState, isState: true),
          TopRow.Cell(
            ScheduleText.when(request, now: now).escapingControlCharacters,
            by: request.endedUnixMs ?? request.startedUnixMs ?? request.dueUnixMs),
          TopRow.Cell("\(request.attempt)", by: request.attempt), TopRow.Cell(request.lastOutcome ?? "-", isState: true),
          text(ScheduleText.repetition(request.repetition) ?? "-"), text(request.tags.joined(separator: ",")),
        ])
    }
  }

  static func problems(_ problems: [ProblemAnswer], now: Int64) -> [TopRow] {
    problems.enumerated().map { index, problem in
      TopRow(
        id: "\(problem.kind)/\(problem.message)",
        cells: [
          TopRow.Cell(problem.needsAction ? "!" : "-", by: problem.needsAction ? 0 : 1), text(problem.kind.replacing("_", with: " ")),
          ago(problem.sinceUnixMs, now), TopRow.Cell(problem.message.escapingControlCharacters, by: Int64(index)),
        ], text: [problem.message, "", "remedy: \(problem.remedy)"].map(\.escapingControlCharacters))
    }
  }

  /// `[==>   ] 42 % 420 of 1000 files: copying a.txt`
  private static func progress(_ progress: ProgressAnswer) -> String {
    let message = progress.message.map { ": \($0)" } ?? ""
    guard let percent = WorkText.percent(progress) else { return WorkText.amount(progress) + message }
    return "[\(ProgressBar.bar(percent, 6))] \(percent) % \(WorkText.amount(progress))\(message)"
  }

  private static func text(_ text: String) -> TopRow.Cell { TopRow.Cell(text.escapingControlCharacters) }

  private static func identifier(_ identifier: String) -> TopRow.Cell { TopRow.Cell(identifier.escapingControlCharacters, keepsEnd: true) }

  /// The latest first.
  private static func ago(_ moment: Int64?, _ now: Int64) -> TopRow.Cell {
    TopRow.Cell(moment.map { MomentFormat.relative($0, now: now) } ?? "-", by: moment.map { -$0 })
  }
}
