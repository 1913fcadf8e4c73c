import CTaskHost
import TaskModel

extension TaskRequest {
  /// Copies what a plugin submits. Throws `invalid`, `tooBig`, `unsupported`.
  init(borrowed pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "request", empty: taskhost_request())
    let text = try Borrowed.text(raw.identifier, named: "identifier", limit: 1024)
    let identifier: TaskIdentifier
    do { identifier = try TaskIdentifier(text) } catch { throw CallFailure(.invalid, error.description) }
    let conditions = Conditions(rawValue: raw.conditions)
    guard Conditions.all.isSuperset(of: conditions) else { throw CallFailure(.invalid, "conditions has bits that are not defined: \(raw.conditions)") }
    guard let onConflict = ConflictPolicy(code: raw.on_conflict) else { throw CallFailure(.invalid, "on_conflict \(raw.on_conflict) is not defined") }
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    guard raw.earliest_begin_unix_ms >= 0 else { throw CallFailure(.invalid, "earliest_begin_unix_ms is negative") }
    guard let length = Int(exactly: raw.payload_length) else { throw CallFailure(.tooBig, "payload_length is \(raw.payload_length)") }
    self.init(
      identifier: identifier,
      payload: try Borrowed.bytes(raw.payload, length, named: "payload", limit: Limits.payloadBytes),
      earliestBegin: raw.earliest_begin_unix_ms == 0 ? nil : WallTime(unixMilliseconds: raw.earliest_begin_unix_ms),
      conditions: conditions,
      uniqueKey: try Borrowed.optionalText(raw.unique_key, named: "unique_key", limit: Limits.keyBytes),
      onConflict: onConflict)
  }
}

extension ConflictPolicy {
  /// The policy with that number in the plugin contract.
  init?(code: UInt32) {
    switch Int(code) {
    case Int(TASKHOST_CONFLICT_NONE): self = .none
    case Int(TASKHOST_CONFLICT_KEEP): self = .keep
    case Int(TASKHOST_CONFLICT_REPLACE): self = .replace
    case Int(TASKHOST_CONFLICT_UPDATE): self = .update
    case Int(TASKHOST_CONFLICT_APPEND): self = .append
    default: return nil
    }
  }
}

extension Disposition {
  /// The disposition's number in the plugin contract.
  var code: UInt32 {
    switch self {
    case .created: UInt32(TASKHOST_CREATED)
    case .kept: UInt32(TASKHOST_KEPT)
    case .replaced: UInt32(TASKHOST_REPLACED)
    case .updated: UInt32(TASKHOST_UPDATED)
    case .appended: UInt32(TASKHOST_APPENDED)
    }
  }
}
