import TaskModel

/// A request in the store.
final class MemoryRow {
  /// Without its payload.
  var record: RequestRecord
  var payload: [UInt8]
  /// The payload of the event it waited for; nil if that had none.
  var eventPayload: [UInt8]?
  /// Where it waits, or waited last.
  var lane: MemoryLane?

  init(_ record: RequestRecord) {
    self.record = Self.kept(record)
    payload = record.request.payload
  }

  var sequence: Int64 { record.id.sequence }

  /// The record as it is read again.
  static func kept(_ record: RequestRecord) -> RequestRecord {
    var kept = record
    kept.request.payload = []
    kept.request.retry = record.request.retry ?? RetryPolicy()
    if !record.request.after.isEmpty {
      kept.request.after = record.request.after.filter { if case .request = $0.predecessor { true } else { false } }
    }
    return kept
  }
}

/// What the store knows of an identifier besides its requests.
final class MemoryOwner {
  /// Where its pending requests wait.
  var lanes: [MemoryLane] = []
  /// Its requests that have not ended.
  var liveCount = 0
  var blocked: Set<Int64> = []
  var claimed: Set<Int64> = []
  /// What its plugin keeps.
  var state: [ExactText: [UInt8]] = [:]
  /// The bytes of that together.
  var stateBytes = 0
}
