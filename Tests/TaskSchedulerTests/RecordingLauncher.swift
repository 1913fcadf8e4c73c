import HostThreads
import TaskModel
import TaskScheduler

/// A launcher that runs nothing: it writes down what it is told, and ends runs at once where the test says how.
final class RecordingLauncher: Launcher {
  /// Something that the scheduler told it.
  enum Call: Sendable, Equatable {
    case expire(RunID, StopReason)
    case force(RunID, StopReason)
    case withdraw([RunID])
  }

  /// The runs that were begun, in order.
  let orders: AsyncStream<RunOrder>
  /// What else it was told, in order.
  let calls: AsyncStream<Call>
  private let ordered: AsyncStream<RunOrder>.Continuation
  private let called: AsyncStream<Call>.Continuation
  private let ending: RunEnding?
  private let sink = Guarded<(@Sendable (LauncherEvent) -> Void)?>(nil)

  /// - Parameter ending: How each run ends at once; nil: the test ends them.
  init(ending: RunEnding?) {
    self.ending = ending
    (orders, ordered) = AsyncStream.makeStream()
    (calls, called) = AsyncStream.makeStream()
  }

  /// Who is told of ends.
  func report(to sink: @escaping @Sendable (LauncherEvent) -> Void) { self.sink.withLock { $0 = sink } }

  /// Ends a run.
  func end(_ run: RunID, _ ending: RunEnding) {
    guard let sink = sink.withLock({ $0 }) else { return }
    sink(.ended(run, ending, RunReport()))
  }

  func start(_ orders: [RunOrder]) {
    for order in orders {
      ordered.yield(order)
      if let ending { end(order.run, ending) }
    }
  }

  /// Tells something.
  func tell(_ event: LauncherEvent) { sink.withLock { $0 }?(event) }

  func withdraw(_ runs: [RunID]) { if !runs.isEmpty { called.yield(.withdraw(runs)) } }

  func expire(_ run: RunID, reason: StopReason) { called.yield(.expire(run, reason)) }

  func force(_ run: RunID, reason: StopReason) { called.yield(.force(run, reason)) }

  func shutdown() -> Int { 0 }
}
