internal import FoundationEssentials
import StrictText
import Synchronization
internal import TaskHostSDK
import TransferOrders

/// The plugin `org.taskhost.transfers`: downloads to files and uploads from files, resumed across runs, hosts and reboots.
struct TransferTask: BackgroundTask {
  typealias Payload = TransferBatch
  typealias Settings = TransferSettings

  static var identifier: String { "org.taskhost.transfers" }
  static var kind: TaskKind { .processing }
  static var displayName: String? { "Background transfers" }
  static var version: String? { "1.0" }
  /// Batches that proceed at once: each has a thread, whatever the number of its transfers is. Slow servers must not take all of the host's
  /// 16 run slots.
  static var maxConcurrentRuns: Int { 8 }

  private let settings: TransferSettings
  private let ledger: PartLedger

  init(_ launch: LaunchContext<TransferSettings>) throws {
    settings = launch.settings
    ledger = PartLedger(folder: launch.dataDirectory)
    // A host that was killed may have left parts of requests that will not run again.
    guard !ledger.requests().isEmpty else { return }
    try launch.submit(
      TaskRequest(
        identifier: Self.identifier, payload: TransferBatch.sweep, uniqueKey: TransferBatch.sweepKey, onConflict: .keep))
  }

  func run(_ task: TaskContext<TransferBatch>) async throws -> TaskResult {
    let batch = task.payload
    let logger = task.logger
    removeAbandonedParts(task)
    if batch.isSweep { return .success }
    ledger.note(batch.items.map { $0.isDownload ? $0.path : "" }, of: task.requestID)
    let run = try BatchRun(
      batch, settings, report(task),
      BatchRun.Environment(
        id: task.requestID, expiration: task.run.functions.pointee.expiration_fd(task.run.task), isExpired: { task.isExpired },
        progress: { task.progress($0, of: $1, unit: $2) },
        count: { isDone, bytesIn, bytesOut in
          task.addWork(
            WorkCounts(
              attempted: 1, completed: isDone ? 1 : 0, failed: isDone ? 0 : 1, bytesIn: UInt64(clamping: bytesIn),
              bytesOut: UInt64(clamping: bytesOut)))
        }, save: { try task.checkpoint.setValue($0) }, log: { logger.warning("\($0)") }))
    let isOver = { task.stopReason == .cancelled || task.stopReason == .replaced }
    try run.run(isOver: isOver)
    let summary = run.report.summary
    try task.setOutput(run.report.json(of: batch, waitingFor: run.lacksToken ? batch.bearerTokenFile : nil))
    task.setMessage(summary)
    if task.isExpired, run.report.count(.waiting) > 0 {
      if isOver() { ledger.forget(task.requestID) }
      // A run that moved no byte costs an attempt. Otherwise the plugin would ask a server that never answers for ever.
      return run.hasProgressed ? .snooze() : .retry()
    }
    guard run.report.count(.waiting) == 0 else { throw TaskFailure.temporary(summary, retryAfter: run.retryAfter) }
    // A request that repeats keeps its checkpoint.
    try task.checkpoint.setValue(TransferReport(count: 0, occurrence: nil))
    ledger.forget(task.requestID)
    return run.report.count(.failed) == 0 ? .success : .failure
  }

  /// The report of an earlier run of the same occurrence, or a new one.
  private func report(_ task: TaskContext<TransferBatch>) -> TransferReport {
    let earlier = (try? task.checkpoint.value(TransferReport.self)).flatMap { $0 }
    // A host that cannot say it has told no occurrence before.
    guard let request = try? task.request(task.requestID), let json = try? JSONReader.read(request.json) else {
      return TransferReport(of: task.payload, occurrence: earlier?.occurrence, after: earlier)
    }
    return TransferReport(of: task.payload, occurrence: json["occurrence"]?.string, after: earlier)
  }

  /// Removes what requests have left that ended without a run. A dead letter keeps its parts: it can be retried.
  ///
  /// Each run looks at a few requests, which are all there are unless many downloads are interrupted at once. Now and then it looks at all.
  private func removeAbandonedParts(_ task: TaskContext<TransferBatch>) {
    var noted = Set(ledger.requests()).subtracting([task.requestID])
    guard !noted.isEmpty else { return }
    if noted.count > Self.few || task.payload.isSweep {
      if task.payload.isSweep || Self.mayLookAtAll() {
        guard let live = try? task.requests() else { return }
        noted.subtract(live.map(\.id))
      } else {
        noted = Set(noted.shuffled().prefix(Self.few))
      }
    }
    for request in noted {
      do {
        let state = try task.request(request).state
        if state == .cancelled || state == .succeeded { ledger.removeParts(of: request) }
      } catch {
        guard (error as? TaskHostError)?.code == .notFound else { return }
        ledger.removeParts(of: request)
      }
    }
  }

  /// The requests about which each run may ask the host.
  private static let few = 16

  private static let looked = Mutex<ContinuousClock.Instant?>(nil)

  /// Whether it is time to look for all abandoned parts: once in a worker's life, and every quarter of an hour.
  private static func mayLookAtAll() -> Bool {
    looked.withLock { looked in
      if let last = looked, .now - last < .seconds(900) { return false }
      looked = .now
      return true
    }
  }
}
