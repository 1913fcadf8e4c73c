public import TaskModel

/// What a worker says to its host.
public enum WorkerMessage: Sendable, Hashable {
  /// It has given up its rights. `missing` has a sentence for each protection that the kernel lacks.
  case confined(missing: [String])
  /// The plugin is loaded and its launch function has returned.
  case launched(LaunchReport)
  /// The plugin could not be launched.
  case refused(LaunchFailure)
  /// A line that the plugin logged while launching.
  case launchLog(LogLine)
  /// Runs that ended; split with ``batches(of:)``.
  case ended([WireEnding])
  /// A run that the host asked for, or that had no thread, has not begun and never will.
  case withdrawn(RunID)
  /// A run that the host asked for has begun.
  case began(RunID)
  /// No thread could be made for runs of an identifier: they come back as ``withdrawn(_:)``.
  case shortage(TaskIdentifier, String)
  /// A run was asked to stop.
  case expired(RunID, StopReason)
  /// A run reported progress.
  case progress(RunID, RunProgress)
  /// A line that a run logged; nil: the plugin, outside of any run.
  case log(RunID?, LogLine)
  /// Log lines that were not sent because the host was slow; counts since the last such message.
  case dropped(lines: UInt64)
  /// A run's grace is over and its handler has not returned: where its thread is, a frame of the stack a line.
  case stuck(RunID, thread: String, stack: String)
  /// A question, to be answered with ``HostMessage/answer(number:_:)``.
  case call(number: UInt64, WorkerCall)
  /// The last message: the answer to ``HostMessage/shutdown``. `threadsLeft` could not be ended.
  case stopped(threadsLeft: Int)
}
