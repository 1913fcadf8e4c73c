internal import CCleanup
internal import FoundationEssentials
internal import TaskHostSDK

/// The plugin `org.taskhost.cleanup`: removes files from directories according to the rules in its settings.
struct CleanupTask: BackgroundTask {
  typealias Payload = CleanupPayload
  typealias Settings = CleanupSettings

  static var identifier: String { "org.taskhost.cleanup" }
  static var kind: TaskKind { .processing }
  static var displayName: String? { "Cleanup" }
  static var version: String? { "1.0" }

  private let settings: CleanupSettings
  /// The number of consecutive runs without progress that count as a failure. A single such run may be due to a busy machine.
  private static let patience = 3

  init(_ launch: LaunchContext<CleanupSettings>) throws {
    settings = launch.settings
    try RuleFeasibility.check(
      settings.rules, entitlement: { try launch.entitlement(to: $0) }, warn: { launch.log(.warning, $0) })
    if settings.rules.isEmpty { launch.log(.notice, "no rules in the settings: nothing will be cleaned up") }
  }

  func run(_ task: TaskContext<CleanupPayload>) async throws -> TaskResult {
    let rules: [Rule]
    do throws(PayloadError) {
      rules = try task.payload.apply(to: settings.rules)
    } catch {
      throw TaskFailure.permanent(error.description)
    }
    guard !rules.isEmpty else {
      task.setMessage("no rules in the settings: nothing to clean up")
      return .noop
    }
    let logger = task.logger
    var environment = SweepEnvironment(
      now: nanoseconds(task.now),
      isCancelled: { Task.isCancelled },
      saveCheckpoint: { try task.checkpoint.setValue($0) },
      progress: { task.progress($0, of: $1) },
      log: { logger.log(level: $0, "\($1)") })
    environment.isBudgetSpent = { task.stopReason == .budget }
    environment.surveyCapacity = Survey.capacity(inMemory: taskhost_cleanup_memory_limit())
    environment.openFiles = { directory, questions in openFiles(task, directory, questions) }
    let sweeper = Sweeper(rules, batchSize: settings.batchSize, resuming: earlier(task), environment: environment)
    switch try sweeper.run() {
    case .stopped(let report):
      try task.setOutput(try report.encoded())
      guard !sweeper.hasProgressed else {
        task.setMessage("stopped before the end: \(report.summary); the next run continues from here")
        return .snooze()
      }
      guard sweeper.fruitlessRuns > 0 else {
        task.setMessage("stopped before anything was removed; the next run restarts the search")
        return .snooze()
      }
      let rule = report.rules.first { $0.status == .unfinished }?.name ?? "the first one"
      let why =
        "the search for rule \(rule) took the whole budget of the run, and the next run restarts it: "
        + "raise the plugin's budget, or divide the rule into several with smaller directories"
      guard sweeper.fruitlessRuns < Self.patience else {
        throw TaskFailure.temporary("nothing was removed in \(sweeper.fruitlessRuns) runs: \(why)")
      }
      task.setMessage("nothing was removed: \(why)")
      return .snooze()
    case .finished(let report):
      try task.setOutput(try report.encoded())
      // The next run, a retry or the next occurrence of a repeating request, executes every rule again.
      try task.checkpoint.setValue(CleanupCheckpoint.nothing)
      for (status, what) in [(RuleReport.Status.blocked, "run"), (.failed, "remove most of their files")] {
        let rules = report.rules.filter { $0.status == status }
        guard !rules.isEmpty else { continue }
        throw TaskFailure.temporary(
          "\(report.summary); \(rules.count) of \(report.rules.count) rules could not \(what): "
            + rules.map { "\($0.name): \($0.problem ?? "")" }.joined(separator: "; "))
      }
      task.setMessage(report.summary)
      return report.rules.contains(where: \.hadWork) ? .success : .noop
    }
  }

  /// Asks the host. Without an answer, the use of all files is unknown.
  private func openFiles(_ task: TaskContext<CleanupPayload>, _ directory: String, _ questions: [FileReference]) -> [FileUse] {
    guard !questions.isEmpty else { return [] }
    do {
      return try task.openFiles(questions, in: directory)
    } catch  where error.code == .unsupported {
      return []
    } catch {
      task.logger.warning("the host cannot report which files are open: \(error)")
      return []
    }
  }

  /// The checkpoint of an earlier run of the request; nil if there is none, or another version of this plugin wrote it.
  private func earlier(_ task: TaskContext<CleanupPayload>) -> CleanupCheckpoint? {
    do {
      return try task.checkpoint.value(CleanupCheckpoint.self)
    } catch {
      task.logger.notice("the checkpoint of the last run cannot be read, starting over: \(error)")
      return nil
    }
  }

  /// Nanoseconds since 1970, to the microsecond.
  private func nanoseconds(_ date: Date) -> Int64 {
    let seconds = max(-9_000_000_000, min(9_000_000_000, date.timeIntervalSince1970))
    return Int64(seconds * 1_000_000) * 1_000
  }
}
