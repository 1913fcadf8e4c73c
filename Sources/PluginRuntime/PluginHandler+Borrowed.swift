import CTaskHost
import TaskModel

extension PluginHandler {
  /// Copies what a plugin registers. Throws `invalid`, `unsupported`.
  init(borrowed pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "registration", empty: taskhost_registration())
    let identifier = try Borrowed.identifier(raw.identifier)
    guard let kind = TaskKind(code: raw.kind) else {
      throw CallFailure(.invalid, "kind \(raw.kind) is none of TASKHOST_REFRESH, TASKHOST_PROCESSING, TASKHOST_CONTINUED")
    }
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    guard raw.max_concurrent_runs <= Limits.concurrentRuns else {
      throw CallFailure(.invalid, "max_concurrent_runs is \(raw.max_concurrent_runs), more than \(Limits.concurrentRuns)")
    }
    guard raw.signature == nil, raw.function == nil else {
      throw CallFailure(.unsupported, "typed handlers (signature) are not offered by this version: register a handler")
    }
    guard let function = raw.handler else { throw CallFailure(.invalid, "handler is NULL") }
    self.init(
      registered: HandlerRegistration(
        identifier: identifier, kind: kind,
        budget: raw.budget_ms == 0 ? nil : .milliseconds(Int64(clamping: raw.budget_ms)),
        maxConcurrentRuns: raw.max_concurrent_runs == 0 ? 1 : Int(raw.max_concurrent_runs),
        displayName: try Borrowed.optionalText(raw.display_name, named: "display_name", limit: 256)?.escapingControlCharacters,
        version: try Borrowed.optionalText(raw.version, named: "version", limit: 64)?.escapingControlCharacters),
      function: function, context: raw.context)
  }
}
