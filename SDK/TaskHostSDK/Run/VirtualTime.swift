import CTaskHost

/// A run's access to the clock of a test host.
///
/// `@unchecked Sendable`: the contract has an extension's table in read-only memory that lives as long as the process.
struct VirtualTime: @unchecked Sendable {
  private let functions: UnsafePointer<VirtualTimeFunctions>
  private let task: taskhost_task

  /// `nil` where the host has no virtual time: every real one.
  init?(_ table: HostFunctions, _ task: taskhost_task) {
    guard let found = table.api.pointee.extension(VirtualTimeFunctions.identifier) else { return nil }
    functions = found.assumingMemoryBound(to: VirtualTimeFunctions.self)
    guard functions.pointee.structSize >= UInt32(MemoryLayout<VirtualTimeFunctions>.size) else { return nil }
    self.task = task
  }

  /// The run's thread has nothing to do.
  func waiting() { functions.pointee.waiting(task) }

  /// The run's thread has something to do again. Called before it can begin.
  func working() { functions.pointee.working(task) }

  /// Suspends the calling task for that long on the host's clock.
  ///
  /// - Throws: `CancellationError` when the calling task is cancelled, before or meanwhile.
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

  /// Asks for a wake-up; false when the run is over and none will come.
  func wake(after duration: Duration, _ wakeUp: VirtualTimeFunctions.WakeUp, _ context: UnsafeMutableRawPointer) -> Bool {
    functions.pointee.wake(task, duration.nanosecondsRoundedUp, wakeUp, context) == taskhost_status(TASKHOST_OK)
  }

  /// Takes a wake-up back; false when it has been called or is about to be.
  func withdraw(_ context: UnsafeMutableRawPointer) -> Bool {
    functions.pointee.withdraw(task, context) == taskhost_status(TASKHOST_OK)
  }
}
