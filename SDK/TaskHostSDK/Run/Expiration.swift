import CTaskHost

/// Calls a closure when a run expires, or at once if it has already expired.
///
/// Create and clear it on the run's thread. The host holds its own reference to the context, so it never accesses freed memory.
package struct Expiration {
  private let run: RunHandle
  /// The host's reference; `nil` if the host did not accept it.
  private let context: Unmanaged<Context>?

  /// - Parameter expire: Called at most once, on a thread of the host, or before this returns.
  package init(_ run: RunHandle, _ expire: @escaping @Sendable (StopReason) -> Void) {
    self.run = run
    let context = Unmanaged.passRetained(Context(expire))
    let status = run.functions.pointee.set_expiration_handler(run.task, Self.expired, context.toOpaque())
    if status == taskhost_status(TASKHOST_OK) {
      self.context = context
    } else {
      // EEXPIRED: the run has already expired, and the host never calls the handler. ESTALE: the host has abandoned the run.
      context.release()
      self.context = nil
      expire(run.stopReason)
    }
  }

  /// Withdraws the handler and waits for a call in progress. The run's handler must return only after this.
  package func clear() {
    guard let context else { return }
    switch Int(run.functions.pointee.set_expiration_handler(run.task, nil, nil)) {
    case TASKHOST_OK, TASKHOST_EEXPIRED:
      context.release()
    default:
      // ESTALE: the run was stopped by force, without waiting, so a call may be in progress. The few bytes stay allocated.
      break
    }
  }

  private final class Context: Sendable {
    let expire: @Sendable (StopReason) -> Void

    init(_ expire: @escaping @Sendable (StopReason) -> Void) { self.expire = expire }
  }

  private static let expired: @convention(c) (taskhost_task, taskhost_stop_reason, UnsafeMutableRawPointer?) -> Void = {
    _, reason, context in
    guard let context else { return }
    Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().expire(StopReason(cValue: reason))
  }
}
