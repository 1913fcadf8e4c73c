import CTaskHost

/// Tells when a run expires, or at once if it has already expired.
///
/// Created and cleared on the run's thread. The host holds its own reference to the context, so it never accesses freed memory.
package struct Expiration {
  private let run: RunHandle
  /// The host's reference; `nil` if the host did not take it.
  private let context: Unmanaged<Context>?

  /// - Parameter expire: Called at most once, on a thread of the host, or before this returns.
  package init(_ run: RunHandle, _ expire: @escaping @Sendable (StopReason) -> Void) {
    self.run = run
    let context = Unmanaged.passRetained(Context(expire))
    let status = run.functions.pointee.set_expiration_handler(run.task, Self.expired, context.toOpaque())
    if status == taskhost_status(TASKHOST_OK) {
      self.context = context
    } else {
      // EEXPIRED: it has already expired and the handler will never be called. ESTALE: the host has abandoned the run.
      context.release()
      self.context = nil
      expire(run.stopReason)
    }
  }

  /// Withdraws the handler and waits for a call in progress. The handler of the run returns only after this.
  package func clear() {
    guard let context else { return }
    switch Int(run.functions.pointee.set_expiration_handler(run.task, nil, nil)) {
    case TASKHOST_OK, TASKHOST_EEXPIRED:
      context.release()
    default:
      // ESTALE, the run was stopped by force: the host did not wait, so a call may be in progress. It keeps the few bytes permanently.
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
