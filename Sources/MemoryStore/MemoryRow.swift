import TaskModel

/// A request in the store.
final class MemoryRow {
  /// The record without its payload.
  var record: RequestRecord
  var payload: [UInt8]
  /// The payload of the event that the request waited for; nil if there is none.
  var eventPayload: [UInt8]?
  /// The lane in which the request waits or last waited.
  var lane: MemoryLane?

  init(_ record: RequestRecord) {
    self.record = Self.kept(record)
    payload = record.request.payload
  }

  var sequence: Int64 { record.id.sequence }

  /// The record in the form that a later read returns.
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

/// The data of an identifier besides its requests.
final class MemoryOwner {
  /// The lanes of the identifier's pending requests.
  var lanes: [MemoryLane] = []
  /// The number of live requests.
  var liveCount = 0
  var blocked: Set<Int64> = []
  var claimed: Set<Int64> = []
  /// The values that the identifier's handlers stored.
  var state: [ExactText: [UInt8]] = [:]
  /// The total bytes of the state.
  var stateBytes = 0
}
