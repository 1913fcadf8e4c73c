import CTaskHost

/// Cancels a run's Swift task when the run expires, or immediately if it has already expired.
///
/// Created and cleared on the run's thread. The host holds its own reference to the task, so it never accesses freed memory.
struct Expiration {
  private let run: RunHandle
  /// The host's reference; `nil` when the host never took it.
  private let context: Unmanaged<Context>?

  init(_ run: RunHandle, cancelling work: Task<Void, Never>) {
    self.run = run
    let context = Unmanaged.passRetained(Context(work))
    let status = run.functions.pointee.set_expiration_handler(run.task, Self.expired, context.toOpaque())
    if status == taskhost_status(TASKHOST_OK) {
      self.context = context
    } else {
      // EEXPIRED: it has already expired and the handler will never be called. ESTALE: the host has abandoned the run.
      context.release()
      self.context = nil
      work.cancel()
    }
  }

  /// Withdraws the handler and waits for a call in progress. The handler of the run returns only after this.
  func clear() {
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
    let work: Task<Void, Never>

    init(_ work: Task<Void, Never>) {
      self.work = work
    }
  }

  private static let expired: @convention(c) (taskhost_task, taskhost_stop_reason, UnsafeMutableRawPointer?) -> Void = { _, _, context in
    guard let context else { return }
    Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().work.cancel()
  }
}
