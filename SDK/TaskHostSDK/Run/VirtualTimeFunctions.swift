package import CTaskHost

/// The table of the extension `org.taskhost.virtual-time/1`, which only a test host offers: how ``TaskContext/sleep(for:)`` sleeps on the
/// host's clock without blocking the run's thread, and how the host learns that a run waits.
///
/// Read-only memory that lives as long as the process. A real host answers NULL for it. Laid out as C does: two 32-bit fields, then
/// function pointers.
package struct VirtualTimeFunctions: BitwiseCopyable {
  package static let identifier = "org.taskhost.virtual-time/1"

  /// Called once, on a thread of the host that is not the run's, when a sleep is over. Must return promptly.
  package typealias WakeUp = @convention(c) (UnsafeMutableRawPointer?) -> Void

  package var structSize: UInt32
  /// 0.
  package var reserved: UInt32 = 0
  /// Calls `wakeUp(context)` that many nanoseconds from now. `TASKHOST_OK`: once, unless it is withdrawn; `TASKHOST_ESTALE`: never, the run
  /// is over.
  package var wake:
    @convention(c) (_ task: taskhost_task, _ nanoseconds: UInt64, _ wakeUp: WakeUp, _ context: UnsafeMutableRawPointer?) -> taskhost_status
  /// Takes a wake-up back, found by its context. `TASKHOST_OK`: it will never be called; `TASKHOST_ENOTFOUND`: it was, or is about to be.
  package var withdraw: @convention(c) (_ task: taskhost_task, _ context: UnsafeMutableRawPointer?) -> taskhost_status
  /// The run's thread has nothing to do: all its Swift tasks are suspended. Time may pass, once something sleeps.
  package var waiting: @convention(c) (_ task: taskhost_task) -> Void
  /// The run's thread has something to do again. Called before it begins, on the thread that gave it that.
  package var working: @convention(c) (_ task: taskhost_task) -> Void

  /// The table as a test host fills it in.
  package init(
    wake: @convention(c) (taskhost_task, UInt64, WakeUp, UnsafeMutableRawPointer?) -> taskhost_status,
    withdraw: @convention(c) (taskhost_task, UnsafeMutableRawPointer?) -> taskhost_status,
    waiting: @convention(c) (taskhost_task) -> Void, working: @convention(c) (taskhost_task) -> Void
  ) {
    structSize = UInt32(MemoryLayout<Self>.size)
    self.wake = wake
    self.withdraw = withdraw
    self.waiting = waiting
    self.working = working
  }
}
