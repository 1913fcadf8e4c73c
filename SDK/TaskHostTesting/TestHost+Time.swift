import HostThreads
import TaskScheduler
public import FoundationEssentials
import TaskModel

extension TestHost {
  /// The virtual time since this host began.
  public var elapsed: Duration { core.clock.elapsed }

  /// The host's wall clock, as handlers see it.
  public var now: Date { Date(timeIntervalSince1970: Double(core.clock.wallTime.unixMilliseconds) / 1000) }

  /// Lets virtual time pass: sleeps end, budgets run out and runs are stopped by force, each at its moment. Returns when the handlers it
  /// woke sleep again or have returned. Starts no requests that fall due: see ``runNext(interruptions:)`` and ``runDue(for:)``.
  ///
  /// - Parameter waitingForHandlers: `false`: time passes whatever the handlers do, for a handler that waits for something other than the
  ///   clock. If the duration includes the end of an expired run's grace, its handler gets no time to react.
  /// - Throws: ``TestHostError/stuck(_:)`` when a handler blocks the clock for too long in real time; `CancellationError`.
  public func advance(by duration: Duration, waitingForHandlers: Bool = true) async throws {
    let target = core.clock.elapsed + max(.zero, duration)
    try await core.wait(for: .moment(target), "advance(by: \(duration))", ignoringHandlers: !waitingForHandlers)
  }

  /// Waits until every handler is asleep on the clock or has returned; no time passes.
  ///
  /// - Throws: The errors of ``advance(by:waitingForHandlers:)``.
  public func settle() async throws {
    try await core.wait(for: .moment(.zero), "settle()")
  }

  /// Sets the wall clock forward, or back with a negative duration, as an operator or NTP would. Budgets, sleeps and delays do not change;
  /// wall-clock times, such as an earliest begin, follow the clock.
  public func jumpWallClock(by duration: Duration) {
    core.monitor.locked {
      core.clock.setCalendar(by: duration)
      try? core.scheduler.clockChanged(core.clock.reference)
      core.shiftConditions(by: duration)
      core.carryOut()
    }
  }

  /// Stops time while `body` runs: for a handler that talks to your test in real time, as through a local server, while another part of it
  /// sleeps on the clock.
  public func holdingClock<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    core.monitor.locked { core.holds += 1 }
    defer {
      core.monitor.locked {
        core.holds -= 1
        core.monitor.broadcast()
      }
    }
    return try await body()
  }
}
