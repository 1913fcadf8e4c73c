internal import FoundationEssentials
internal import TaskHostSDK

/// The plugin `org.taskhost.transfers`: downloads to files and uploads from files, resumed across runs, hosts and reboots.
struct TransferTask: BackgroundTask {
  typealias Payload = TransferBatch
  typealias Settings = TransferSettings

  static var identifier: String { "org.taskhost.transfers" }
  static var kind: TaskKind { .processing }
  static var displayName: String? { "Background transfers" }
  static var version: String? { "1.0" }
  /// Batches that proceed at once: each has a thread, whatever the number of its transfers is.
  static var maxConcurrentRuns: Int { 16 }

  private let settings: TransferSettings

  init(_ launch: LaunchContext<TransferSettings>) throws {
    settings = launch.settings
  }

  func run(_ task: TaskContext<TransferBatch>) async throws -> TaskResult {
    let batch = task.payload
    let logger = task.logger
    let earlier = try? task.checkpoint.value(TransferReport.self)
    let report = earlier.flatMap { $0.items.count == batch.items.count ? $0 : nil } ?? TransferReport(count: batch.items.count)
    let run = try BatchRun(
      batch, settings, report,
      BatchRun.Environment(
        id: task.requestID, expiration: task.run.functions.pointee.expiration_fd(task.run.task), isExpired: { task.isExpired },
        progress: { task.progress($0, of: $1, unit: $2) },
        count: { isDone, bytesIn, bytesOut in
          task.addWork(
            WorkCounts(
              attempted: 1, completed: isDone ? 1 : 0, failed: isDone ? 0 : 1, bytesIn: UInt64(max(0, bytesIn)),
              bytesOut: UInt64(max(0, bytesOut))))
        }, save: { try task.checkpoint.setValue($0) }, log: { logger.warning("\($0)") }))
    try run.run(isOver: { task.stopReason == .cancelled || task.stopReason == .replaced })
    let summary = run.report.summary
    try task.setOutput(run.report.json(of: batch))
    task.setMessage(summary)
    if task.isExpired, run.report.count(.waiting) > 0 {
      // A run that moved no byte costs an attempt. Otherwise the plugin would ask a server that never answers for ever.
      return run.hasProgressed ? .snooze() : .retry()
    }
    guard run.report.count(.waiting) == 0 else { throw TaskFailure.temporary(summary, retryAfter: run.retryAfter) }
    if let identifier = batch.notify { try notify(identifier, of: run.report, batch, task) }
    return run.report.count(.failed) == 0 ? .success : .failure
  }

  /// Launches one run of the handler that waits for the batch, with the report as its payload.
  private func notify(
    _ identifier: String, of report: TransferReport, _ batch: TransferBatch, _ task: TaskContext<TransferBatch>
  ) throws {
    do {
      try task.submit(
        TaskRequest(
          identifier: identifier, payload: report.json(of: batch), uniqueKey: "transfers/\(task.requestID)", onConflict: .keep))
    } catch {
      throw TaskFailure.temporary("\(report.summary), but \(identifier) cannot be notified: \(error)")
    }
  }
}
