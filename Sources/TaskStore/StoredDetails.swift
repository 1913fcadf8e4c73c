import TaskModel

/// Rarely used fields of a run's report, as JSON in one column; NULL for runs without them.
struct StoredDetails: Codable, Equatable {
  /// The unit and the message of its progress.
  var unit: String?
  var doing: String?
  var work: Work?

  struct Work: Codable, Equatable {
    var attempted, completed, failed, bytesIn, bytesOut: UInt64
  }

  /// The details of a report; nil if it has none.
  static func text(of report: RunReport) throws -> String? {
    var details = StoredDetails()
    details.unit = report.progress?.unit
    details.doing = report.progress?.message
    details.work = report.work.map {
      Work(
        attempted: $0.itemsAttempted, completed: $0.itemsCompleted, failed: $0.itemsFailed, bytesIn: $0.bytesIn, bytesOut: $0.bytesOut)
    }
    return details == StoredDetails() ? nil : try StoredJSON.encode(details)
  }

  /// Adds the details to a report whose other columns were already read.
  static func apply(_ text: String?, to report: inout RunReport) throws {
    guard let text else { return }
    let details = try StoredJSON.decode(StoredDetails.self, from: text)
    report.progress?.unit = details.unit
    report.progress?.message = details.doing
    report.work = details.work.map {
      RunWork(
        itemsAttempted: $0.attempted, itemsCompleted: $0.completed, itemsFailed: $0.failed, bytesIn: $0.bytesIn, bytesOut: $0.bytesOut)
    }
  }
}
