import CTaskHost
import TaskHostSDK

/// What a plugin registered.
struct RegisteredHandler: @unchecked Sendable {  // reason: the context is the plugin's, which keeps it valid for the life of the process
  let identifier: String
  let kind: TaskKind
  /// `nil`: the kind's.
  let budget: Duration?
  let maxConcurrentRuns: Int
  let displayName: String?
  let version: String?
  let function: taskhost_handler
  let context: UnsafeMutableRawPointer?

  /// Copies what a plugin registers.
  init(borrowed pointer: UnsafePointer<taskhost_registration>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "registration", empty: taskhost_registration())
    identifier = try Borrowed.identifier(raw.identifier)
    guard let kind = TaskKind(code: raw.kind) else {
      throw CallFailure(TASKHOST_EINVAL, "kind \(raw.kind) is none of TASKHOST_REFRESH, TASKHOST_PROCESSING, TASKHOST_CONTINUED")
    }
    guard raw.reserved == 0 else { throw CallFailure(TASKHOST_EINVAL, "reserved is \(raw.reserved); it must be 0") }
    guard raw.max_concurrent_runs <= 1024 else {
      throw CallFailure(TASKHOST_EINVAL, "max_concurrent_runs is \(raw.max_concurrent_runs), more than 1024")
    }
    guard raw.signature == nil, raw.function == nil else {
      throw CallFailure(TASKHOST_EUNSUPPORTED, "the test host has no typed handlers (signature): test the function by calling it")
    }
    guard let function = raw.handler else { throw CallFailure(TASKHOST_EINVAL, "handler is NULL") }
    self.kind = kind
    self.function = function
    context = raw.context
    budget = raw.budget_ms == 0 ? nil : .milliseconds(Int64(clamping: raw.budget_ms))
    maxConcurrentRuns = raw.max_concurrent_runs == 0 ? 1 : Int(raw.max_concurrent_runs)
    displayName = try Borrowed.optionalText(raw.display_name, named: "display_name", limit: 256)
    version = try Borrowed.optionalText(raw.version, named: "version", limit: 64)
  }

  /// Whether a restarted worker may register this where it registered `other` before.
  func isSame(as other: RegisteredHandler) -> Bool {
    identifier == other.identifier && kind == other.kind && budget == other.budget && maxConcurrentRuns == other.maxConcurrentRuns
      && displayName == other.displayName && version == other.version
  }
}
