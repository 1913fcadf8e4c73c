import CTaskHost
import TaskModel

extension TaskRequest {
  /// Copies what a plugin submits. Throws `invalid`, `tooBig`, `unsupported`.
  init(borrowed pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "request", empty: taskhost_request())
    guard let onConflict = ConflictPolicy(code: raw.on_conflict) else {
      throw CallFailure(.invalid, "on_conflict \(raw.on_conflict) is not defined")
    }
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    let payloadBytes = Int(clamping: raw.payload_length)
    do { try RequestField.payload.check(payloadBytes: payloadBytes) } catch { throw CallFailure(error) }
    let begin = raw.earliest_begin_unix_ms
    let isPaced = begin == Int64(TASKHOST_BEGIN_PACED)
    self.init(
      identifier: try Borrowed.identifier(raw.identifier),
      payload: try Borrowed.bytes(raw.payload, payloadBytes, named: "payload", limit: Limits.payloadBytes),
      earliestBegin: begin == 0 || isPaced ? nil : WallTime(unixMilliseconds: begin),
      conditions: Conditions(rawValue: raw.conditions),
      uniqueKey: try Borrowed.optionalText(raw.unique_key, named: RequestField.uniqueKey.rawValue, limit: 4 * Limits.keyBytes),
      onConflict: onConflict)
    self.isPaced = isPaced
    do { try check() } catch { throw CallFailure(error) }
  }
}
