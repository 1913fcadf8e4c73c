public import TaskModel

/// A message from a worker to its host.
public enum WorkerMessage: Sendable, Hashable {
  /// The worker has dropped its privileges. `missing` has a sentence for each protection that the kernel lacks.
  case confined(missing: [String])
  /// The plugin is loaded and its launch function has returned.
  case launched(LaunchReport)
  /// The plugin's launch failed.
  case refused(LaunchFailure)
  /// A line that the plugin logged during its launch.
  case launchLog(LogLine)
  /// Ended runs; split with ``batches(of:)``.
  case ended([WireEnding])
  /// A run that the host took back, or for which there was no thread, has not begun and never will.
  case withdrawn(RunID)
  /// A run that the host asked to hear of, or tried to take back, has begun.
  case began(RunID)
  /// No thread could be created for runs of an identifier: they return as ``withdrawn(_:)``.
  case shortage(TaskIdentifier, String)
  /// A run was asked to stop.
  case expired(RunID, StopReason)
  /// A run reported progress.
  case progress(RunID, RunProgress)
  /// A run's counts have changed: all that it has counted so far.
  case work(RunID, RunWork)
  /// A line that a run logged, or the plugin outside a run (nil).
  case log(RunID?, LogLine)
  /// The number of log lines dropped since the last such message because the host was slow.
  case dropped(lines: UInt64)
  /// A run's grace is over but its handler has not returned. `stack` shows where its thread is, one frame per line.
  case stuck(RunID, thread: String, stack: String)
  /// A call, which ``HostMessage/answer(number:_:)`` answers.
  case call(number: UInt64, WorkerCall)
  /// The last message: answers ``HostMessage/shutdown``. `threadsLeft` counts threads that could not be ended.
  case stopped(threadsLeft: Int)
}
