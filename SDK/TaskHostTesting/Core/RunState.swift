import Glibc
import PluginRuntime
import TaskModel

/// One run in a test host, as its clock and its tests see it. The run itself is the runtime's.
final class RunState: @unchecked Sendable {  // reason: everything that changes is touched with the lock of `core` held
  let core: HostCore
  let plugin: HostedPlugin
  let launcher: ThreadLauncher
  let order: RunOrder
  var report: RunReport
  var isOver = false
  /// Whether the launcher has it: nothing stops it before.
  var isHandedOut = false
  /// Its process has died: its threads stay where they call the host.
  var isKilled = false
  var interruptions: [Interruption]

  // What its threads do, for the clock.
  var thread: pthread_t?
  /// Whether the handler's thread is neither asleep on the clock nor, in Swift, without work.
  var isWorking = true
  /// Threads in the host's sleep that are neither the handler's nor one that checks the run.
  var otherSleepers = 0
  /// Whether its budget has begun: before, no time passes.
  var hasBegun = false
  /// When the runtime wants to check it, and how.
  var armed: (time: MonotonicTime, check: @Sendable () -> Void)?
  /// Checks in progress: one that calls the expiration handler lasts as long as that.
  var checks = 0
  var checkingThreads: [pthread_t] = []
  var sleepingChecks = 0
  /// Checks that have begun and have not yet told what came of them.
  var undecided: Set<UInt64> = []
  /// Whether it has ended and has not yet told so.
  var isEnding = false
  /// Whether something about it is about to be told: no time passes until then.
  var isUndecided: Bool { isEnding || !undecided.isEmpty }
  /// How often it called since it has expired, and changed nothing.
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

  /// Which of its threads calls.
  var role: Sleeper.Role {
    if let thread, pthread_equal(thread, pthread_self()) != 0 { return .handler }
    if checkingThreads.contains(where: { pthread_equal($0, pthread_self()) != 0 }) { return .check }
    return .other
  }

  /// Whether it has expired and turns in a circle of looking and sleeping, in which no virtual time would ever pass: the clock does not
  /// wait for it.
  var ignoresExpiration: Bool { looks >= 10_000 }

  /// Whether the clock must wait for it.
  var holdsClock: Bool {
    if checks > sleepingChecks { return true }
    guard isWorking, !ignoresExpiration else { return false }
    return !(core.options.handlersWaitForTheirThreads && otherSleepers > 0)
  }

  /// When an interruption at a time on the clock is due; nil: it is not bound to one.
  func moment(of interruption: Interruption) -> Duration? {
    guard case .time(let time) = interruption.moment.kind else { return nil }
    return report.started + time
  }

  /// The interruptions that are due by then, taken from those to come.
  func takeInterruptions(until now: Duration) -> [Interruption] {
    let due = interruptions.filter { moment(of: $0).map { $0 <= now } ?? false }
    if !due.isEmpty { interruptions.removeAll { moment(of: $0).map { $0 <= now } ?? false } }
    return due.sorted { (moment(of: $0) ?? .zero) < (moment(of: $1) ?? .zero) }
  }

  /// The interruptions at that moment, taken from those to come.
  func takeInterruptions(at isMeant: (Moment.Kind) -> Bool) -> [Interruption] {
    let due = interruptions.filter { isMeant($0.moment.kind) }
    if !due.isEmpty { interruptions.removeAll { isMeant($0.moment.kind) } }
    return due
  }

  /// A sentence for the watchdog.
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
