import CTaskHost
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// Expiration and force, on a deadline thread.
extension LiveRun {
  /// What a deadline thread must do for the run now; `next` is when to check again.
  enum Due {
    case nothing(next: MonotonicTime)
    /// It has just expired: call its handler, if set, on this thread.
    case expired(StopReason, ExpirationCall?, next: MonotonicTime)
    /// It expired earlier, and another thread is calling its handler: send the event.
    case announce(StopReason, next: MonotonicTime)
    case force(StopReason)
  }

  /// The one call of an expiration handler.
  struct ExpirationCall {
    let handler: taskhost_expiration_handler
    let context: UnsafeMutableRawPointer?
  }

  /// With the lock held: when it expires by itself.
  var deadline: MonotonicTime { min(budgetEnd, stallEnd) }

  /// Requests expiration or a forced stop; the caller then arms the deadline threads for "now".
  func request(stop reason: StopReason, force: Bool) {
    monitor.locked {
      if force { requestedForce = requestedForce ?? reason } else { requestedStop = requestedStop ?? reason }
    }
  }

  /// Decides what is due, and marks the run as expired if expiration is.
  ///
  /// A handler in the result counts as being called by this thread from now on.
  func due(at now: MonotonicTime) -> Due {
    monitor.locked {
      guard phase != .closed else { return .nothing(next: .distantFuture) }
      if let requestedForce { return .force(stop ?? requestedForce) }
      guard let stop else {
        if let requestedStop { return expire(requestedStop) }
        guard now >= deadline else { return .nothing(next: deadline) }
        return expire(now >= budgetEnd ? .budget : .stalled)
      }
      if now >= forceAt { return .force(stop) }
      guard unannounced != nil else { return .nothing(next: forceAt) }
      unannounced = nil
      return .announce(stop, next: forceAt)
    }
  }

  /// With the lock held: marks the run as expired and wakes its sleeping and polling threads.
  private func expire(_ reason: StopReason) -> Due {
    stop = reason
    expiredAt = clock.now
    forceAt = expiredAt + order.contract.grace
    if eventDescriptor >= 0 { _ = taskhost_system_event_set(eventDescriptor) }
    monitor.broadcast()
    guard let expirationHandler else { return .expired(reason, nil, next: forceAt) }
    unannounced = reason
    callback = .calling(pthread_self())
    return .expired(reason, ExpirationCall(handler: expirationHandler, context: expirationContext), next: forceAt)
  }

  /// For a run that expired and has returned: when its grace would end. Nil if it is live, did not expire, or was stopped by force.
  var endOfGrace: MonotonicTime? {
    monitor.locked { phase == .closed && stop != nil && !report.forced ? forceAt : nil }
  }

  /// Calls the expiration handler; may never return.
  func perform(_ call: ExpirationCall, reason: StopReason) {
    ThreadExit.whileServing(order.run) { call.handler(handle, reason.code, call.context) }
    monitor.locked {
      callback = .returned
      monitor.broadcast()
    }
  }

  /// The header's set_expiration_handler: sets, or clears with NULL.
  func setExpirationHandler(_ handler: taskhost_expiration_handler?, context: UnsafeMutableRawPointer?) throws(CallFailure) {
    monitor.lock()
    defer { monitor.unlock() }
    guard let handler else { return try clearExpirationHandler() }
    guard phase == .live else { throw .stale }
    guard stop == nil else { throw CallFailure(.expired, "the run has expired: the handler will not be called") }
    expirationHandler = handler
    expirationContext = context
  }

  /// With the lock held. Waits for a call in progress, also after force, since its context may be on the run's stack.
  private func clearExpirationHandler() throws(CallFailure) {
    if case .calling(let thread) = callback, pthread_equal(thread, pthread_self()) == 0 {
      while case .calling = callback { clock.wait(monitor, until: .distantFuture, for: self) }
    }
    expirationHandler = nil
    expirationContext = nil
    guard phase == .live else { throw .stale }
    if case .none = callback { return }
    throw CallFailure(.expired, "the expiration handler was called")
  }
}
