import CTaskHost
import TaskHostSDK

extension HostTable {
  /// The table of the extension `org.taskhost.virtual-time/1`.
  static func virtualTimeTable() -> VirtualTimeFunctions {
    VirtualTimeFunctions(
      wake: { task, nanoseconds, wakeUp, context in
        HostTable.answer { () throws(CallFailure) in
          try HostTable.run(task) { (core, run) throws(CallFailure) in
            core.addWake(run, at: core.now + .nanoseconds(Int64(clamping: nanoseconds)), .call(wakeUp, context))
          }
        }
      },
      withdraw: { task, context in
        HostTable.answer { () throws(CallFailure) in
          let run = try Registry.run(task)
          let isGone = run.core.monitor.locked { run.core.removeWake(run, context) }
          guard isGone else { throw CallFailure(TASKHOST_ENOTFOUND, "that wake-up was called, or is about to be") }
        }
      },
      waiting: { HostTable.setWorking($0, false) }, working: { HostTable.setWorking($0, true) })
  }

  /// Called with a lock of the SDK's held: must not wait, also where the run was killed.
  private static func setWorking(_ task: taskhost_task, _ isWorking: Bool) {
    guard let run = try? Registry.run(task) else { return }
    run.core.monitor.locked {
      guard run.phase == .live else { return }
      run.isWorking = isWorking
      if !isWorking { run.core.monitor.wakeClock() }
    }
  }
}
