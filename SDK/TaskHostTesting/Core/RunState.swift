import Glibc
import PluginRuntime
import TaskModel

/// One run in a test host, as the clock and the tests see it. The runtime has the run itself.
final class RunState: @unchecked Sendable {  // reason: everything that changes is touched with the lock of `core` held
  let core: HostCore
  let plugin: HostedPlugin
  let launcher: ThreadLauncher
  let order: RunOrder
  var report: RunReport
  var isOver = false
  /// Whether the launcher has the run; nothing stops it before.
  var isHandedOut = false
  /// Whether its process has died; its threads then stop in their calls of the host.
  var isKilled = false
  var interruptions: [Interruption]
  /// The assertions that the run has not ended: each with its place in the report, and when it expires.
  var assertions: [AssertionID: (index: Int, end: Duration)] = [:]
  /// Whether a drain has asked it to stop.
  var isDrained = false

  var thread: pthread_t?
  /// Whether the handler's thread is awake on the clock and, in Swift, has work.
  var isWorking = true
  /// Threads in the host's sleep, without the handler's and those that check the run.
  var otherSleepers = 0
  /// Whether the budget has begun; no time passes before.
  var hasBegun = false
  /// When the runtime wants to check the run, and how.
  var armed: (time: MonotonicTime, check: @Sendable () -> Void)?
  /// Checks in progress; one that calls the expiration handler lasts as long as that call.
  var checks = 0
  var checkingThreads: [pthread_t] = []
  var sleepingChecks = 0
  /// Checks that have begun and have not reported their result.
  var undecided: Set<UInt64> = []
  /// Whether it has ended and has not reported the end.
  var isEnding = false
  /// Whether a report about it is outstanding; no time passes until it comes.
  var isUndecided: Bool { isEnding || !undecided.isEmpty }
  /// How often it has called the host since it expired without changing anything.
  var looks = 0

  init(core: HostCore, plugin: HostedPlugin, launcher: ThreadLauncher, order: RunOrder, interruptions: [Interruption]) {
    self.core = core
    self.plugin = plugin
    self.launcher = launcher
    self.order = order
    self.interruptions = interruptions
    report = RunReport(
      identifier: order.contract.identifier.rawValue, requestID: order.request.description, attempt: order.attempt, payload: order.payload,
      started: core.clock.elapsed)
  }

  /// The role of the calling thread.
  var role: Sleeper.Role {
    if let thread, pthread_equal(thread, pthread_self()) != 0 { return .handler }
    if checkingThreads.contains(where: { pthread_equal($0, pthread_self()) != 0 }) { return .check }
    return .other
  }

  /// Whether the expired run alternates between looking and sleeping, which would stop virtual time for ever; the clock no longer waits for
  /// it.
  var ignoresExpiration: Bool { looks >= 10_000 }

  var holdsClock: Bool {
    if checks > sleepingChecks { return true }
    guard isWorking, !ignoresExpiration else { return false }
    return !(core.options.handlersWaitForTheirThreads && otherSleepers > 0)
  }

  /// When an interruption at a clock time is due; nil if it depends on a step of the handler.
  func moment(of interruption: Interruption) -> Duration? {
    guard case .time(let time) = interruption.moment.kind else { return nil }
    return report.started + time
  }

  /// When a drain asks it to stop: once it holds no assertion any more. Nil if none does.
  var drainTime: Duration? {
    guard core.isDraining, isHandedOut, !isOver, !isDrained, !report.isExpired else { return nil }
    return assertions.values.map(\.end).max() ?? .zero
  }

  /// Removes and returns the interruptions due by then.
  func takeInterruptions(until now: Duration) -> [Interruption] {
    let due = interruptions.filter { moment(of: $0).map { $0 <= now } ?? false }
    if !due.isEmpty { interruptions.removeAll { moment(of: $0).map { $0 <= now } ?? false } }
    return due.sorted { (moment(of: $0) ?? .zero) < (moment(of: $1) ?? .zero) }
  }

  /// Removes and returns the interruptions at that step.
  func takeInterruptions(at isMeant: (Moment.Kind) -> Bool) -> [Interruption] {
    let due = interruptions.filter { isMeant($0.moment.kind) }
    if !due.isEmpty { interruptions.removeAll { isMeant($0.moment.kind) } }
    return due
  }

  var whyItHoldsTheClock: String {
    let who = "\(report.identifier) (attempt \(report.attempt))"
    if checks > sleepingChecks { return "\(who): its expiration handler has not returned." }
    if isWorking {
      return "\(who): its thread computes, or waits for something that is not on the clock: a lock, a socket, poll(), a thread of its own, "
        + "a sleep other than the host's. Let it use the host's sleep; or expire it with run.expire(), end it with run.force(), or let "
        + "time pass regardless with host.advance(by:waitingForHandlers: false)."
    }
    return "\(who): all its Swift tasks are suspended and none of them sleeps on the clock. Task.sleep is the machine's: use "
      + "task.sleep(for:). If it waits for its expiration, use run.expire(); if for something that never comes, run.force()."
  }
}
