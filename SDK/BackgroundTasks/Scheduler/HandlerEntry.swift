import CTaskHost

/// What the host is given as a handler's context. Kept for the life of the process, so that every launch registers the same.
final class HandlerEntry: Sendable {
  private let core: SchedulerCore
  private let hostIdentifier: String

  init(_ core: SchedulerCore, _ hostIdentifier: String) {
    self.core = core
    self.hostIdentifier = hostIdentifier
  }

  /// The one C function that all handlers are.
  static let handler: @convention(c) (taskhost_task, UnsafeMutableRawPointer?) -> taskhost_result = { task, context in
    guard let context else { return taskhost_result(TASKHOST_FAILURE) }
    let entry = Unmanaged<HandlerEntry>.fromOpaque(context).takeUnretainedValue()
    return entry.core.serve(task, entry.hostIdentifier)
  }
}
