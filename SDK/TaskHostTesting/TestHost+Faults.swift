public import CTaskHost
import HostThreads
import PluginRuntime
import SchedulingLimits
public import TaskHostSDK
import TaskModel
import TaskScheduler

extension TestHost {
  /// Makes the disk full: the given calls answer `TASKHOST_EUNAVAILABLE` and store nothing.
  ///
  /// - Parameters:
  ///   - number: The first such call to fail, counted from now. 1: the next.
  ///   - count: How many calls fail; `nil`: that call and all later ones.
  ///   - calls: Which calls fail. Default: all that write.
  public func fillDisk(fromCall number: Int = 1, count: Int? = nil, _ calls: HostCall = .writes) {
    fail(calls, with: taskhost_status(TASKHOST_EUNAVAILABLE), "the store is full", fromCall: number, count: count)
  }

  /// Makes the disk full during a span of virtual time, counted since this host began.
  ///
  /// - Parameter calls: Which calls fail. Default: all that write.
  public func fillDisk(during times: Range<Duration>, _ calls: HostCall = .writes) {
    core.monitor.locked {
      core.faults.failing.append(
        Faults.Failing(
          calls: calls, numbers: 1..<Int.max, times: times, status: taskhost_status(TASKHOST_EUNAVAILABLE), message: "the store is full"))
    }
  }

  /// Makes the given calls answer a status, one of the `TASKHOST_E…` numbers of `taskhost.h`, and do nothing else.
  ///
  /// - Parameters:
  ///   - calls: Which calls fail.
  ///   - status: The status they answer.
  ///   - message: The text of `last_error`.
  ///   - number: The first such call to fail, counted from now. 1: the next.
  ///   - count: How many calls fail; `nil`: that call and all later ones.
  public func fail(
    _ calls: HostCall, with status: taskhost_status, _ message: String = "a fault of the test", fromCall number: Int = 1, count: Int? = nil
  ) {
    let end = count.map { number.addingReportingOverflow(max(0, $0)).partialValue } ?? Int.max
    core.monitor.locked {
      core.faults.failing.append(
        Faults.Failing(
          calls: calls, numbers: number..<max(number, end), times: .zero..<Duration.seconds(Int64.max), status: status, message: message))
    }
  }

  /// Makes the given calls take virtual time, which expiration does not shorten.
  public func slow(_ calls: HostCall, by delay: Duration) {
    core.monitor.locked { core.faults.delays.append((calls, delay)) }
  }

  /// Ends all faults: calls succeed again and take no time.
  public func repair() {
    core.monitor.locked { core.faults = Faults() }
  }

  /// Ends conditions: live runs of requests that require one of them expire with `.conditions`, and ``runNext(interruptions:)`` skips
  /// pending ones. The system's sockets keep working: give a handler that opens its own the address of a ``FaultyServer``.
  public func lose(_ conditions: TaskHostSDK.Conditions) {
    core.monitor.locked { core.setConditions(core.conditions.subtracting(TaskModel.Conditions(rawValue: conditions.rawValue))) }
  }

  /// Makes conditions hold again.
  public func restore(_ conditions: TaskHostSDK.Conditions) {
    core.monitor.locked { core.setConditions(core.conditions.union(TaskModel.Conditions(rawValue: conditions.rawValue))) }
  }

  /// Makes the machine rest on battery as if it had just rested long enough for the stage. From now on, requests wait for maintenance
  /// windows, except those of the kind `continued`. `restore(.power)` and `lose(.idle)` end the stage, as in a host.
  ///
  /// - Throws: ``TestHostError/notPossible(_:)`` unless ``TestHostOptions/profile`` is ``TestProfile/phone``.
  public func enter(_ stage: TestIdleStage) throws {
    guard let stages = core.options.idleStages else {
      throw TestHostError.notPossible("this host has no idle stages: set the profile of its options to .phone")
    }
    core.monitor.locked {
      let resting = core.conditions.subtracting(.power).union(.idle)
      core.setConditions(resting, settled: [.power, .idle], for: stage == .lightIdle ? stages.lightAfter : stages.deepAfter)
    }
  }

  /// The conditions that hold.
  public var conditions: TaskHostSDK.Conditions {
    core.monitor.locked { TaskHostSDK.Conditions(rawValue: core.conditions.rawValue) }
  }

  /// Drains the host: nothing starts and nobody can submit any more, and live runs expire with `.draining`, those that hold execution
  /// assertions once these have ended. No more assertions are granted.
  public func drain() {
    core.monitor.locked {
      core.scheduler.drain()
      core.isDraining = true
      for run in core.runs { core.drainIfDue(run) }
    }
  }

  /// Ends the host as a drained one ends: drains it, lets time pass until every run has ended, and calls the shutdown hooks of plugins in
  /// files.
  ///
  /// - Throws: ``TestHostError/stuck(_:)`` when a handler or a hook blocks the end for too long in real time.
  public func shutdown() async throws {
    drain()
    for run in liveRuns { try await run.ended() }
    let launchers = core.monitor.locked { core.plugins.compactMap(\.launcher) }
    let left = try await withCheckedThrowingContinuation { continuation in
      do {
        try HostThread.start("shutdown") { continuation.resume(returning: launchers.reduce(0) { $0 + $1.shutdown() }) }
      } catch { continuation.resume(throwing: TestHostError.system("\(error)")) }
    }
    guard left == 0 else { throw TestHostError.stuck("taskhost_plugin_shutdown has not returned for 5 s of real time") }
  }
}
