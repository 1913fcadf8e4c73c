import HostThreads
import TaskScheduler
public import FoundationEssentials
import TaskModel

extension TestHost {
  /// The virtual time since this host began.
  public var elapsed: Duration { core.clock.elapsed }

  /// The host's wall clock, as handlers see it.
  public var now: Date { Date(timeIntervalSince1970: Double(core.clock.wallTime.unixMilliseconds) / 1000) }

  /// Lets that much time pass: sleeps end, budgets are spent, runs are stopped by force, each at its moment. Returns when the handlers that
  /// this woke are asleep again or have returned. Requests that fall due are not run: see ``runNext(interruptions:)`` and
  /// ``runDue(for:)``.
  ///
  /// - Parameter waitingForHandlers: `false`: time passes regardless of what the handlers do, for one that waits for something that is not
  ///   on the clock. A handler that has expired then gets no time to react before it is forced, if that lies within the duration.
  /// - Throws: ``TestHostError/stuck(_:)`` when a handler keeps the clock from moving for too long in real time; `CancellationError`.
  public func advance(by duration: Duration, waitingForHandlers: Bool = true) async throws {
    let target = core.clock.elapsed + max(.zero, duration)
    try await core.wait(for: .moment(target), "advance(by: \(duration))", ignoringHandlers: !waitingForHandlers)
  }

  /// Waits until every handler is asleep on the clock or has returned; no time passes.
  ///
  /// - Throws: As ``advance(by:waitingForHandlers:)``.
  public func settle() async throws {
    try await core.wait(for: .moment(.zero), "settle()")
  }

  /// The wall clock is set forward, or back with a negative duration, as an operator or NTP would. Budgets, sleeps and delays go on as they
  /// were; times that somebody named, as an earliest begin, follow it.
  public func jumpWallClock(by duration: Duration) {
    core.monitor.locked {
      core.clock.setCalendar(by: duration)
      try? core.scheduler.clockChanged(core.clock.reference)
      core.carryOut()
    }
  }

  /// Keeps time from passing while `body` runs: for a handler that exchanges something with your test in real time, as with a local server,
  /// while something else of it sleeps on the clock.
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
