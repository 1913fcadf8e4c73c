import HostThreads
public import TaskHostSDK

/// A run that was started, to control it and to see what it does. Usable from any thread, also when it has ended.
public struct TestRun: Sendable, CustomStringConvertible {
  let run: RunState

  init(_ run: RunState) {
    self.run = run
  }

  /// What it has done so far.
  public var report: RunReport { run.core.monitor.locked { run.report } }

  /// The request it serves.
  public var requestID: String { report.requestID }

  /// Whether it has neither returned nor been given up.
  public var isLive: Bool { run.core.monitor.locked { !run.isOver } }

  /// Lets time pass until the run has ended: by returning, by force, or because it was killed.
  ///
  /// - Returns: What it did.
  /// - Throws: ``TestHostError/stuck(_:)`` when the handler keeps the clock from moving for too long in real time; `CancellationError`.
  @discardableResult
  public func ended() async throws -> RunReport {
    try await run.core.wait(for: .end(run), "the end of \(run.report.identifier)")
    return report
  }

  /// Lets time pass until what the run has done is as wanted: it is looked at after each call the run makes, on the thread that makes it.
  ///
  /// - Parameters:
  ///   - what: What is waited for, for the error's sentence.
  ///   - isWanted: Called with the host's lock held: it must return promptly and ask nothing of the host.
  /// - Returns: What it has done when your test goes on, which may be more.
  /// - Throws: ``TestHostError/neverHappened(_:)`` when the run ends before; ``TestHostError/stuck(_:)``; `CancellationError`.
  @discardableResult
  public func reached(_ what: String, _ isWanted: @escaping @Sendable (RunReport) -> Bool) async throws -> RunReport {
    try await run.core.wait(for: .report(run, isWanted), what)
    return report
  }

  /// The run expires now: its expiration handler is called, its Swift task cancelled, its grace begins. Nothing happens if it has before,
  /// or has ended.
  public func expire(_ reason: StopReason = .budget) {
    run.core.monitor.locked { run.core.expire(run, reason) }
  }

  /// The run expires at that moment.
  ///
  /// A moment that is bound to what the handler does may have passed already: where it could, give it to
  /// ``TestHost/launch(_:payload:conditions:interruptions:)``.
  public func expire(_ reason: StopReason = .budget, at moment: Moment) { add(.expire(reason, at: moment)) }

  /// Its request is cancelled: the run expires with `.cancelled`, and whatever it returns, the request ends cancelled.
  public func cancel() {
    run.core.monitor.locked { run.core.cancel(run) }
  }

  /// Its grace is over now, also if it has not expired: it is stopped by force, its handle is stale, its thread left behind.
  public func force() {
    run.core.monitor.locked { run.core.force(run) }
  }

  /// The run ends as if its process had died just now. Durable writes that have returned to the handler stay, nothing later counts.
  ///
  /// A thread cannot be killed: the threads of the run stop for good at their next call of the host, or in the one they are in, so memory,
  /// files and locks they hold stay held. The plugin is launched again before its next run: a Swift type gets a new instance, a file new
  /// global variables. What a Swift type keeps in static variables stays as it is.
  public func kill() {
    run.core.monitor.locked { run.core.kill(run) }
  }

  /// The run is killed at that moment: see ``kill()`` and ``expire(_:at:)``.
  public func kill(at moment: Moment) { add(.kill(at: moment)) }

  private func add(_ interruption: Interruption) {
    run.core.monitor.locked {
      guard !run.isOver else { return }
      run.interruptions.append(interruption)
      run.core.monitor.broadcast()
    }
  }

  /// What it has done so far.
  public var description: String { report.description }
}
