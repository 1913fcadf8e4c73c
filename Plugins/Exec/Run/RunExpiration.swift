internal import CTaskHost
internal import TaskHostSDK

/// The expiration of a run, for the thread that waits for its process: when to ask the process to stop, and when to kill it.
struct RunExpiration {
  private let run: RunHandle
  private let signal: Int32
  private var killTime: Int64?
  /// Why the run was asked to stop; nil if it was not.
  private(set) var reason: StopReason?

  init(of run: RunHandle) {
    self.run = run
    signal = run.functions.pointee.expiration_fd(run.task)
  }

  /// Readable at the expiration; -1 after it.
  var descriptor: Int32 { reason == nil ? signal : -1 }

  /// The run's grace in milliseconds.
  var grace: Int64 { run.functions.pointee.grace_ms(run.task) }

  /// How long to wait for a descriptor, in milliseconds, as poll takes it.
  var patience: Int32 { killTime.map { Int32(clamping: max(0, $0 - Clock.now)) } ?? -1 }

  /// Whether the run has expired; true once. Ask before the first wait too: a run that was stopped by force has no descriptor any more.
  mutating func takeBegin() -> Bool {
    guard reason == nil, run.functions.pointee.is_expired(run.task) != 0 else { return false }
    reason = run.stopReason
    // The rest of the grace is for the report of the end.
    killTime = Clock.now + max(0, grace - min(500, grace / 4))
    return true
  }

  /// Whether the process is to be killed; true once.
  mutating func takeEnd() -> Bool {
    guard let time = killTime, Clock.now >= time else { return false }
    killTime = nil
    return true
  }
}
