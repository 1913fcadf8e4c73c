import CTaskHost
import Dispatch

/// Expires a run when the host says so, or when the budget that this module keeps is over.
///
/// Made and cleared on the run's thread. The host holds a reference of its own to the run, so nothing it may still touch is ever freed
/// under it.
struct RunExpiration {
  private let run: TaskRun
  /// The host's reference; `nil` when the host never took it.
  private let context: Unmanaged<Context>?
  private let timer: (any DispatchSourceTimer)?

  init(_ run: TaskRun, notBegun: String, budget: Duration?) {
    self.run = run
    let table = run.channel.host.api
    let reference = Context(run, notBegun)
    let context = Unmanaged.passRetained(reference)
    if table.pointee.set_expiration_handler(run.channel.task, Self.expired, context.toOpaque()) == taskhost_status(TASKHOST_OK) {
      self.context = context
    } else {
      // EEXPIRED: it has expired already and the handler will never be called. ESTALE: the host has given the run up.
      context.release()
      self.context = nil
      reference.expire(.host(run.channel.host.api.pointee.stop_reason(run.channel.task)))
    }
    timer = budget.map { budget in
      // A source and not `asyncAfter`: that would keep the run until its time has come, also when it is cancelled.
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(deadline: .now() + budget.dispatchInterval)
      timer.setEventHandler { reference.expire(.refresh(budget)) }
      timer.resume()
      return timer
    }
  }

  /// Withdraws the handler and waits for a call in progress. The handler of the run returns only after this.
  func clear() {
    timer?.cancel()
    guard let context else { return }
    switch Int(run.channel.host.api.pointee.set_expiration_handler(run.channel.task, nil, nil)) {
    case TASKHOST_OK, TASKHOST_EEXPIRED:
      context.release()
    default:
      // ESTALE, the run was stopped by force: the host did not wait, so a call may be in progress. The few bytes are left to it for good.
      break
    }
  }

  private final class Context: Sendable {
    private let run: TaskRun
    private let notBegun: String

    init(_ run: TaskRun, _ notBegun: String) {
      self.run = run
      self.notBegun = notBegun
    }

    func expire(_ cause: ExpirationCause) { run.expire(cause, notBegun: notBegun) }
  }

  private static let expired: @convention(c) (taskhost_task, taskhost_stop_reason, UnsafeMutableRawPointer?) -> Void = {
    _, reason, context in
    guard let context else { return }
    Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().expire(.host(reason))
  }
}
