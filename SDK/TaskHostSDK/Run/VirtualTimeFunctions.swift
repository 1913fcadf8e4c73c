package import CTaskHost

/// The extension `org.taskhost.virtual-time/1`, which only a test host offers. Through it, ``TaskContext/sleep(for:)`` sleeps on the host's
/// clock without blocking the run's thread, and the host learns that a run waits.
///
/// Read-only memory that lives as long as the process; a real host returns NULL for it. The layout is that of C: two 32-bit fields, then
/// function pointers.
package struct VirtualTimeFunctions: BitwiseCopyable {
  package static let identifier = "org.taskhost.virtual-time/1"

  /// Called once when a sleep is over, on a host thread that is not the run's. Must return promptly.
  package typealias WakeUp = @convention(c) (UnsafeMutableRawPointer?) -> Void

  package var structSize: UInt32
  /// 0.
  package var reserved: UInt32 = 0
  /// Calls `wakeUp(context)` once, that many nanoseconds from now, unless it is withdrawn. `TASKHOST_ESTALE`: the run is over and no call
  /// comes.
  package var wake:
    @convention(c) (_ task: taskhost_task, _ nanoseconds: UInt64, _ wakeUp: WakeUp, _ context: UnsafeMutableRawPointer?) -> taskhost_status
  /// Withdraws the wake-up with this context. `TASKHOST_OK`: it will never be called; `TASKHOST_ENOTFOUND`: it was, or is about to be.
  package var withdraw: @convention(c) (_ task: taskhost_task, _ context: UnsafeMutableRawPointer?) -> taskhost_status
  /// The run's thread is idle: all its Swift tasks are suspended. Time may pass once something sleeps.
  package var waiting: @convention(c) (_ task: taskhost_task) -> Void
  /// The run's thread has work again. Called before it begins, on the thread that provided the work.
  package var working: @convention(c) (_ task: taskhost_task) -> Void

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
