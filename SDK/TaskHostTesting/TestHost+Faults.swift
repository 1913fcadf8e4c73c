public import CTaskHost
import HostThreads
import PluginRuntime
public import TaskHostSDK
import TaskModel
import TaskScheduler

extension TestHost {
  /// The disk is full: these calls answer `TASKHOST_EUNAVAILABLE` and store nothing.
  ///
  /// - Parameters:
  ///   - number: The first such call that fails, counted from now. 1: the next.
  ///   - count: How many fail; `nil`: all from then on.
  ///   - calls: Which. Default: all that write.
  public func fillDisk(fromCall number: Int = 1, count: Int? = nil, _ calls: HostCall = .writes) {
    fail(calls, with: taskhost_status(TASKHOST_EUNAVAILABLE), "the store is full", fromCall: number, count: count)
  }

  /// The disk is full during a span of virtual time, from this host's beginning.
  ///
  /// - Parameter calls: Which calls fail. Default: all that write.
  public func fillDisk(during times: Range<Duration>, _ calls: HostCall = .writes) {
    core.monitor.locked {
      core.faults.failing.append(
        Faults.Failing(
          calls: calls, numbers: 1..<Int.max, times: times, status: taskhost_status(TASKHOST_EUNAVAILABLE), message: "the store is full"))
    }
  }

  /// These calls answer that status, one of the `TASKHOST_E…` numbers of `taskhost.h`, and do nothing.
  ///
  /// - Parameters:
  ///   - calls: Which.
  ///   - status: What they answer.
  ///   - message: What `last_error` says then.
  ///   - number: The first such call that fails, counted from now. 1: the next.
  ///   - count: How many fail; `nil`: all from then on.
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

  /// These calls take that much virtual time; expiration does not shorten them.
  public func slow(_ calls: HostCall, by delay: Duration) {
    core.monitor.locked { core.faults.delays.append((calls, delay)) }
  }

  /// Calls fail no more and take no time.
  public func repair() {
    core.monitor.locked { core.faults = Faults() }
  }

  /// Conditions are lost: live runs of requests that require one of them expire with `.conditions`, and ``runNext(interruptions:)`` passes
  /// over pending ones. Sockets are the system's and work on: to a handler that opens its own, give an address of a ``FaultyServer``.
  public func lose(_ conditions: TaskHostSDK.Conditions) {
    setConditions { $0.subtract(TaskModel.Conditions(rawValue: conditions.rawValue)) }
  }

  /// Conditions hold again.
  public func restore(_ conditions: TaskHostSDK.Conditions) {
    setConditions { $0.formUnion(TaskModel.Conditions(rawValue: conditions.rawValue)) }
  }

  private func setConditions(_ change: (inout TaskModel.Conditions) -> Void) {
    core.monitor.locked {
      change(&core.conditions)
      core.scheduler.receive(core.conditionReport)
      core.carryOut()
    }
  }

  /// The conditions that hold.
  public var conditions: TaskHostSDK.Conditions {
    core.monitor.locked { TaskHostSDK.Conditions(rawValue: core.conditions.rawValue) }
  }

  /// The host is shut down: nothing is started or submitted any more, and live runs expire with `.draining`.
  public func drain() {
    core.monitor.locked {
      core.scheduler.drain()
      for run in core.runs { core.expire(run, .draining) }
    }
  }

  /// Ends the host as a drained one does: drains, lets time pass until every run has ended, and calls the shutdown hooks of plugins in
  /// files.
  ///
  /// - Throws: ``TestHostError/stuck(_:)`` when a handler or a hook keeps it from ending for too long in real time.
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
