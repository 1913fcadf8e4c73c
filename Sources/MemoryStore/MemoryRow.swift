import TaskModel

/// A request in the store.
final class MemoryRow {
  /// Without its payload.
  var record: RequestRecord
  var payload: [UInt8]
  /// The payload of the event it waited for; nil if there is none.
  var eventPayload: [UInt8]?
  /// The lane it waits in, or last waited in.
  var lane: MemoryLane?

  init(_ record: RequestRecord) {
    self.record = Self.kept(record)
    payload = record.request.payload
  }

  var sequence: Int64 { record.id.sequence }

  /// The record as a later read returns it.
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

/// Data of an identifier besides its requests.
final class MemoryOwner {
  /// The lanes of its pending requests.
  var lanes: [MemoryLane] = []
  /// Its requests that have not ended.
  var liveCount = 0
  var blocked: Set<Int64> = []
  var claimed: Set<Int64> = []
  /// Its plugin's state.
  var state: [ExactText: [UInt8]] = [:]
  /// The total bytes of the state.
  var stateBytes = 0
}
