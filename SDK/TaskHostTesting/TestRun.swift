import HostThreads
public import TaskHostSDK

/// A started run, to control and observe. You may use it from any thread, also after the run has ended.
public struct TestRun: Sendable, CustomStringConvertible {
  let run: RunState

  init(_ run: RunState) {
    self.run = run
  }

  /// What the run has done so far.
  public var report: RunReport { run.core.monitor.locked { run.report } }

  /// The request it serves.
  public var requestID: String { report.requestID }

  /// Whether the run has neither returned nor been given up.
  public var isLive: Bool { run.core.monitor.locked { !run.isOver } }

  /// Lets time pass until the run ends: its handler returns, the host stops it by force, or it is killed.
  ///
  /// - Returns: What the run did.
  /// - Throws: ``TestHostError/stuck(_:)`` when the handler keeps the clock from moving for too long in real time; `CancellationError`.
  @discardableResult
  public func ended() async throws -> RunReport {
    try await run.core.wait(for: .end(run), "the end of \(run.report.identifier)")
    return report
  }

  /// Lets time pass until the run's report satisfies a condition. The host checks it after each call the run makes, on the calling thread.
  ///
  /// - Parameters:
  ///   - what: What your test waits for, for the error's sentence.
  ///   - isWanted: The condition. The host calls it with its lock held, so it must return promptly and must not call the host.
  /// - Returns: What the run has done when your test goes on, which may be more.
  /// - Throws: ``TestHostError/neverHappened(_:)`` when the run ends first; ``TestHostError/stuck(_:)``; `CancellationError`.
  @discardableResult
  public func reached(_ what: String, _ isWanted: @escaping @Sendable (RunReport) -> Bool) async throws -> RunReport {
    try await run.core.wait(for: .report(run, isWanted), what)
    return report
  }

  /// Expires the run now: calls its expiration handler, cancels its Swift task, and begins its grace. Does nothing if the run has already
  /// expired or ended.
  public func expire(_ reason: StopReason = .budget) {
    run.core.monitor.locked { run.core.expire(run, reason) }
  }

  /// Expires the run at the given moment.
  ///
  /// A moment that depends on the handler's progress may already have passed. To be sure to catch it, pass it to
  /// ``TestHost/launch(_:payload:conditions:interruptions:)``.
  public func expire(_ reason: StopReason = .budget, at moment: Moment) { add(.expire(reason, at: moment)) }

  /// Cancels the run's request: the run expires with `.cancelled`, and the request ends as cancelled, whatever the run returns.
  public func cancel() {
    run.core.monitor.locked { run.core.cancel(run) }
  }

  /// Ends the run's grace now, even if it has not expired: the host stops it by force, its handle becomes stale, its thread is left behind.
  public func force() {
    run.core.monitor.locked { run.core.force(run) }
  }

  /// Ends the run as if its process died now. Durable writes that have returned to the handler stay; nothing later counts.
  ///
  /// A thread cannot be killed. The run's threads stop for good in their current or next call of the host, and keep their memory, files and
  /// locks. The plugin is launched again before its next run: a Swift type gets a new instance, a file gets new global variables. Static
  /// variables of a Swift type keep their values.
  public func kill() {
    run.core.monitor.locked { run.core.kill(run) }
  }

  /// Kills the run at the given moment: see ``kill()`` and ``expire(_:at:)``.
  public func kill(at moment: Moment) { add(.kill(at: moment)) }

  private func add(_ interruption: Interruption) {
    run.core.monitor.locked {
      guard !run.isOver else { return }
      run.interruptions.append(interruption)
      run.core.monitor.broadcast()
    }
  }

  /// What the run has done so far.
  public var description: String { report.description }
}
