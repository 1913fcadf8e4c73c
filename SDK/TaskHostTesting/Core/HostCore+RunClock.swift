import HostThreads
import PluginRuntime
import TaskModel

/// The clock that the runtime's runs use.
extension HostCore: RunClock {
  var now: MonotonicTime { clock.monotonicTime }
  var limitsReports: Bool { false }

  func wait(_ lock: Monitor, until end: MonotonicTime, for live: LiveRun) {
    lock.unlock()
    let isKilled = monitor.locked {
      guard let run = states[live.context.run] else { return false }
      sleep(run, until: end == .distantFuture ? nil : .nanoseconds(end.nanoseconds), wakesAtExpiration: true)
      return run.isKilled
    }
    if isKilled { Frozen.forever() }
    lock.lock()
  }

  func deadlines(_ work: @escaping @Sendable (LiveRun) -> Void) -> any RunDeadlines { VirtualDeadlines(core: self, work: work) }

  func enters(_ live: LiveRun) {
    let isKilled = monitor.locked {
      guard let run = states[live.context.run] else { return false }
      // Due checks come first: a call at the end of the grace finds the run stopped.
      while run.isUndecided, !run.isOver, run.role != .check { monitor.wait() }
      if run.report.isExpired {
        run.looks += 1
        if run.ignoresExpiration { monitor.broadcast() }
      }
      return run.isKilled
    }
    if isKilled { Frozen.forever() }
  }

  func changed(_ report: TaskModel.RunReport, of live: LiveRun) {
    monitor.locked {
      guard let run = states[live.context.run], !run.isOver else { return }
      run.report.take(report)
      run.looks = 0
      changed(run)
    }
  }
}

/// The deadlines of one launcher's runs; the clock's thread observes them.
private final class VirtualDeadlines: RunDeadlines {
  private let core: HostCore
  private let work: @Sendable (LiveRun) -> Void

  init(core: HostCore, work: @escaping @Sendable (LiveRun) -> Void) {
    self.core = core
    self.work = work
  }

  func arm(_ live: LiveRun, at time: MonotonicTime) {
    let isStopped = core.monitor.locked {
      guard let run = core.states[live.context.run], !run.isOver else { return false }
      if run.thread != nil, !run.hasBegun {
        run.hasBegun = true
        core.monitor.broadcast()
      }
      if let armed = run.armed, armed.time <= time { return false }
      run.armed = (time, { [work] in work(live) })
      core.monitor.broadcast()
      return core.isStopped
    }
    if isStopped, time <= core.clock.monotonicTime { try? HostThread.start("expiration") { [work] in work(live) } }
  }

  func disarm(_ live: LiveRun) {
    core.monitor.locked {
      guard let run = core.states[live.context.run], !run.isOver else { return }
      run.armed = nil
      run.isEnding = true
    }
  }

  func end() {}
}
