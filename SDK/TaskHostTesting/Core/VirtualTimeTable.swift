import HostThreads
import TaskModel
import CTaskHost
import Glibc
import PluginRuntime
import TaskHostSDK

/// The table of the extension `org.taskhost.virtual-time/1`, beside the host's own extensions.
enum VirtualTimeTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) private static let shared = ContractTable.readOnly(
    VirtualTimeFunctions(
      wake: { task, nanoseconds, wakeUp, context in
        ContractTable.answer { () throws(CallFailure) in
          let live = try ContractTable.run(task)
          live.clock.enters(live)
          guard let (core, run) = VirtualTimeTable.find(live) else { throw .stale }
          try core.addCall(run, in: .nanoseconds(Int64(clamping: nanoseconds)), wakeUp, context)
        }
      },
      withdraw: { task, context in
        ContractTable.answer { () throws(CallFailure) in
          guard let (core, run) = VirtualTimeTable.find(try ContractTable.run(task)), core.withdrawCall(run, context) else {
            throw CallFailure(.notFound, "that wake-up was called, or is about to be")
          }
        }
      },
      waiting: { VirtualTimeTable.setWorking($0, false) }, working: { VirtualTimeTable.setWorking($0, true) }))

  /// An extension of a test host, which offers no open files.
  static func `extension`(_ name: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    guard let name, strcmp(name, TASKHOST_EXTENSION_OPEN_FILES) != 0 else { return nil }
    if strcmp(name, VirtualTimeFunctions.identifier) == 0 { return UnsafeRawPointer(shared) }
    return ContractTable.shared?.pointee.extension(name)
  }

  private static func find(_ live: LiveRun) -> (HostCore, RunState)? {
    guard let core = live.clock as? HostCore else { return nil }
    return core.monitor.locked { core.states[live.context.run] }.map { (core, $0) }
  }

  /// Called with a lock of the SDK held: must not wait, even if the run was killed.
  private static func setWorking(_ task: taskhost_task, _ isWorking: Bool) {
    guard let live = try? ContractTable.run(task), let (core, run) = find(live) else { return }
    core.monitor.locked {
      guard !run.isOver else { return }
      run.isWorking = isWorking
      if !isWorking { core.monitor.broadcast() }
    }
  }
}
