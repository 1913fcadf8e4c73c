import Synchronization
import TaskModel

/// The reports of live runs so far, for status queries.
final class LiveView: Sendable {
  private struct Report {
    var progress: RunProgress?
    var work: RunWork?
    var log: [LogLine] = []
  }

  private let reports = Mutex<[RunID: Report]>([:])

  func note(_ progress: RunProgress, of run: RunID) { reports.withLock { $0[run, default: Report()].progress = progress } }

  func note(_ work: RunWork, of run: RunID) { reports.withLock { $0[run, default: Report()].work = work } }

  func note(_ line: LogLine, of run: RunID) {
    reports.withLock { reports in
      if let count = reports[run]?.log.count, count >= Limits.keptLogLines { reports[run]?.log.removeFirst() }
      reports[run, default: Report()].log.append(line)
    }
  }

  func forget(_ run: RunID) { reports.withLock { reports in if !reports.isEmpty { reports.removeValue(forKey: run) } } }

  /// Adds the run's progress, work and log to `record`.
  func complete(_ record: RunRecord) -> RunRecord {
    guard let report = reports.withLock({ $0[record.id] }) else { return record }
    var record = record
    record.report.progress = report.progress
    record.report.work = report.work
    record.report.log = report.log
    return record
  }
}
