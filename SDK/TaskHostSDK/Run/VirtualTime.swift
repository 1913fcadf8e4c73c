import CTaskHost

/// A run's access to the clock of a test host.
///
/// `@unchecked Sendable`: by contract, an extension's table is read-only and lives as long as the process.
struct VirtualTime: @unchecked Sendable {
  private let functions: UnsafePointer<VirtualTimeFunctions>
  private let task: taskhost_task

  /// `nil` if the host has no virtual time, as every real host.
  init?(_ table: HostFunctions, _ task: taskhost_task) {
    guard let found = table.api.pointee.extension(VirtualTimeFunctions.identifier) else { return nil }
    functions = found.assumingMemoryBound(to: VirtualTimeFunctions.self)
    guard functions.pointee.structSize >= UInt32(MemoryLayout<VirtualTimeFunctions>.size) else { return nil }
    self.task = task
  }

  /// The run's thread has nothing to do.
  func waiting() { functions.pointee.waiting(task) }

  /// Called before the run's thread begins work again.
  func working() { functions.pointee.working(task) }

  /// Suspends the calling task on the host's clock.
  ///
  /// - Throws: `CancellationError` when the calling task is or becomes cancelled.
  func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    let sleep = VirtualSleep(self)
    await withTaskCancellationHandler {
      await withCheckedContinuation { sleep.begin($0, for: duration) }
    } onCancel: {
      sleep.cancel()
    }
    try Task.checkCancellation()
  }

  /// Requests a wake-up; false if the run is over and none will come.
  func wake(after duration: Duration, _ wakeUp: VirtualTimeFunctions.WakeUp, _ context: UnsafeMutableRawPointer) -> Bool {
    functions.pointee.wake(task, duration.nanosecondsRoundedUp, wakeUp, context) == taskhost_status(TASKHOST_OK)
  }

  /// Withdraws a wake-up; false if it has been called or is about to be.
  func withdraw(_ context: UnsafeMutableRawPointer) -> Bool {
    functions.pointee.withdraw(task, context) == taskhost_status(TASKHOST_OK)
  }
}
