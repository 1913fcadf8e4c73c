public import TaskModel

/// A message from the host to a worker.
public enum HostMessage: Sendable, Hashable {
  /// The first message: what the worker may reach, and what it must load.
  case boot(WorkerBoot)
  /// The worker's registrations after the operator's limits; answers ``WorkerMessage/launched(_:)``.
  case contracts([HandlerContract])
  /// Runs to begin in this order; split with ``batches(of:)``.
  case start([WireOrder])
  /// Asks a run to stop.
  case expire(RunID, StopReason)
  /// Takes back runs that have not begun, at most ``LinkFormat/batchCount``. Each run that has not ended is answered with
  /// ``WorkerMessage/withdrawn(_:)`` or ``WorkerMessage/began(_:)``.
  case withdraw([RunID])
  /// Answers ``WorkerMessage/call(number:_:)`` with that number.
  case answer(number: UInt64, CallAnswer)
  /// Whether budgets, stall limits and graces are suspended, as while a debugger holds the worker. The first such message may come before
  /// the launch.
  case suspendBudgets(Bool)
  /// When the worker must have ended, in nanoseconds of the boot clock, unless a later message moves that. The kernel then kills
  /// the process, whatever its host does: somebody else may own the requests of its runs from then on.
  case lease(until: Int64)
  /// Ends the worker: it calls the plugin's shutdown hook and answers ``WorkerMessage/stopped(threadsLeft:)``. No run is live.
  case shutdown
}
