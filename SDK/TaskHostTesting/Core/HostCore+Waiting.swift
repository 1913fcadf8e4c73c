import HostThreads
import TaskModel
import TaskHostSDK

extension HostCore {
  /// Lets time pass until the target is reached.
  ///
  /// - Throws: ``TestHostError`` when that is impossible; `CancellationError` when the calling task is cancelled.
  func wait(for target: Waiter.Target, _ what: String, ignoringHandlers: Bool = false) async throws {
    let id = monitor.locked { newNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        monitor.locked {
          add(Waiter(id: id, target: target, what: what, ignoresHandlers: ignoringHandlers, continuation: continuation))
        }
      }
    } onCancel: {
      monitor.locked {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else {
          cancelledWaits.insert(id)
          return
        }
        resume(waiters.remove(at: index), throwing: CancellationError())
      }
    }
    _ = monitor.locked { cancelledWaits.remove(id) }
  }

  private func add(_ waiter: Waiter) {
    var waiter = waiter
    guard !cancelledWaits.contains(waiter.id) else { return resume(waiter, throwing: CancellationError()) }
    if case .report(let run, let holds) = waiter.target { waiter.isSatisfied = holds(run.report) }
    waiters.append(waiter)
    lastMovement = SystemClock.now
    monitor.broadcast()
  }

  /// Resumes the tests whose target is reached; false if there are none. Called on the clock's thread with the lock held.
  func resumeSatisfied() -> Bool {
    var stillWaiting: [Waiter] = []
    for waiter in waiters {
      switch waiter.target {
      case .moment(let moment):
        guard clock.elapsed >= moment, isReadyAtMoment(waiter) else {
          stillWaiting.append(waiter)
          continue
        }
        resume(waiter)
      case .end(let run):
        guard run.isOver else {
          stillWaiting.append(waiter)
          continue
        }
        resume(waiter)
      case .report(let run, _):
        if waiter.isSatisfied {
          resume(waiter)
        } else if run.isOver {
          resume(waiter, throwing: TestHostError.neverHappened("the run ended before \(waiter.what):\n\(run.report)"))
        } else {
          stillWaiting.append(waiter)
        }
      case .runEnd(let number, by: let moment):
        if endedRuns > number || moment.map({ clock.elapsed >= $0 && isReadyAtMoment(waiter) }) ?? runs.isEmpty {
          resume(waiter)
        } else {
          stillWaiting.append(waiter)
        }
      }
    }
    defer { waiters = stillWaiting }
    return stillWaiting.count < waiters.count
  }

  /// Whether everything due now is done and its handlers have settled.
  private func isReadyAtMoment(_ waiter: Waiter) -> Bool {
    guard actions.isEmpty, actionsInProgress == 0, !hasDueEvent, !runs.contains(where: \.isUndecided) else { return false }
    return waiter.ignoresHandlers || isSettled
  }

  private func resume(_ waiter: Waiter) { actions.append { waiter.continuation.resume() } }

  private func resume(_ waiter: Waiter, throwing error: any Error) {
    actions.append { waiter.continuation.resume(throwing: error) }
    monitor.broadcast()
  }

  // MARK: The watchdog

  /// When, in real time, waiting tests get `stuck`.
  var watchdogDeadline: MonotonicTime { lastMovement + options.watchdog }

  /// Tells all waiting tests why time does not pass, with the lock held.
  func giveUp() {
    let reasons = runs.filter { run in run.holdsClock || !wakes.contains { $0.wake.at != nil } }.map(\.whyItHoldsTheClock)
    for waiter in waiters {
      resume(
        waiter,
        throwing: TestHostError.stuck(
          """
          \(waiter.what): no virtual time has passed for \(options.watchdog) of real time, at \(clock.elapsed) of the test host's clock. \
          \(holds > 0 ? "The test holds the clock. " : "")\(reasons.joined(separator: " "))
          """))
    }
    waiters = []
  }

  /// Tells all waiting tests that the test host is gone, with the lock held.
  func abandonWaiters() {
    for waiter in waiters { resume(waiter, throwing: TestHostError.notPossible("\(waiter.what): the test host was stopped")) }
    waiters = []
  }
}
