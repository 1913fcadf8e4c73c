import CTaskHost
import TaskModel

extension TaskRequest {
  /// Copies what a plugin submits. Throws `invalid`, `tooBig`, `unsupported`.
  init(borrowed pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "request", empty: taskhost_request())
    let conditions = Conditions(rawValue: raw.conditions)
    guard Conditions.all.isSuperset(of: conditions) else {
      throw CallFailure(.invalid, "conditions has bits that are not defined: \(raw.conditions)")
    }
    guard let onConflict = ConflictPolicy(code: raw.on_conflict) else {
      throw CallFailure(.invalid, "on_conflict \(raw.on_conflict) is not defined")
    }
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    let begin = raw.earliest_begin_unix_ms
    let isPaced = begin == Int64(TASKHOST_BEGIN_PACED)
    guard begin >= 0 || isPaced else { throw CallFailure(.invalid, "earliest_begin_unix_ms is negative") }
    let earliestBegin = begin > 0 ? WallTime(unixMilliseconds: begin) : nil
    guard earliestBegin.map(WallTime.calendar.contains) ?? true else {
      throw CallFailure(.invalid, "earliest_begin_unix_ms lies after the year 9999: give milliseconds since 1970")
    }
    let uniqueKey = try Borrowed.optionalText(raw.unique_key, named: "unique_key", limit: Limits.keyBytes)
    guard uniqueKey?.isEmpty != true else { throw CallFailure(.invalid, "unique_key is empty; pass NULL for none") }
    guard uniqueKey != nil || onConflict == .none else { throw CallFailure(.invalid, "on_conflict needs a unique_key") }
    self.init(
      identifier: try Borrowed.identifier(raw.identifier),
      payload: try Borrowed.bytes(raw.payload, Int(truncatingIfNeeded: raw.payload_length), named: "payload", limit: Limits.payloadBytes),
      earliestBegin: earliestBegin,
      conditions: conditions,
      uniqueKey: uniqueKey,
      onConflict: onConflict)
    self.isPaced = isPaced
  }
}
