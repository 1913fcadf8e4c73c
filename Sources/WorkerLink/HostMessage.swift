public import TaskModel

/// What a host says to a worker.
public enum HostMessage: Sendable, Hashable {
  /// The first message: what the worker may reach and what it is to load.
  case boot(WorkerBoot)
  /// What the worker registered with the operator's limits applied; the answer to ``WorkerMessage/launched(_:)``.
  case contracts([HandlerContract])
  /// Runs to begin, in this order; split with ``batches(of:)``.
  case start([WireOrder])
  /// Asks a run to stop.
  case expire(RunID, StopReason)
  /// Asks for runs that have not begun, at most ``LinkFormat/batchCount``: each that has not ended is answered with
  /// ``WorkerMessage/withdrawn(_:)`` or ``WorkerMessage/began(_:)``.
  case withdraw([RunID])
  /// The answer to ``WorkerMessage/call(number:_:)`` with that number.
  case answer(number: UInt64, CallAnswer)
  /// Ends the worker: it calls the plugin's shutdown hook and answers ``WorkerMessage/stopped(threadsLeft:)``. No run is live by now.
  case shutdown
}
