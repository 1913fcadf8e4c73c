import CTaskHost
import Glibc
import HostThreads
import TaskModel

/// Execution assertions of the run.
extension LiveRun {
  /// Takes one from the host, and has its expiration handler called at its time.
  func beginAssertion(_ request: AssertionRequest, _ call: AssertionCall?) throws(CallFailure) -> taskhost_assertion {
    // Counted from before the question: the plugin hears of the end before the host goes on without it.
    let end = clock.now + request.length
    let id = try services.beginAssertion(request, for: context)
    do throws(CallFailure) {
      let number = try whileLive { $0.machine.assertions.hold(id, until: end, call) }
      arm(at: end)
      return number
    } catch {
      // The run was stopped by force meanwhile. The host ends the assertions of an ended run, unless it granted this one afterwards.
      try? services.endAssertion(id, for: context)
      throw error
    }
  }

  /// Whole milliseconds for which an assertion is still held: positive, or 0 once it has expired.
  func remainingMilliseconds(of assertion: taskhost_assertion) throws(CallFailure) -> Int64 {
    let now = clock.now
    let remaining = try whileLive { $0.machine.assertions.remaining(assertion, at: now) }
    guard let remaining else { throw CallFailure(.notFound, "the run has no assertion \(assertion), or has ended it") }
    return remaining == .zero ? 0 : max(1, remaining.wholeMilliseconds)
  }

  /// Ends an assertion. Waits for a call of its expiration handler on another thread, also after force, since the call's context may be on
  /// the run's stack.
  func endAssertion(_ assertion: taskhost_assertion) throws(CallFailure) {
    let id = try wait { (state) throws(CallFailure) -> Guarded<State>.Look<AssertionID> in
      if state.machine.assertions.isCalling(assertion, apartFrom: pthread_self()) { return .again() }
      guard state.machine.isLive else { throw .stale }
      return .done(try state.machine.assertions.end(assertion))
    }
    do throws(CallFailure) { try services.endAssertion(id, for: context) } catch {
      throw error.status == .notFound ? RunAssertions.hasExpired : error
    }
  }

  /// Calls an expiration handler; may never return.
  func perform(_ call: AssertionCall, of assertion: taskhost_assertion) -> [RunMachine.Effect] {
    ThreadExit.whileServing(order.run) { call.handler(handle, assertion, call.context) }
    return handle(.assertionHandlerReturned(assertion))
  }
}
