import TaskModel

// What is sent to the thread.

extension Scheduler {
  /// Something sent to the thread.
  enum Command {
    /// For the next turn. A begin rides on what else wakes the thread.
    case input(EngineInput)
    case inspect((SchedulerCore, WallTime) -> Void)
    case conditions(ConditionReport)
    /// The identifier's live runs, as if their budget were spent.
    case expire(TaskIdentifier, ([RunID]) -> Void)
    case drain(deadline: MonotonicTime, drained: @Sendable () -> Void)
    case force
  }

  /// Calls `body` on the thread, between turns.
  func inspect(_ body: @escaping (SchedulerCore, WallTime) -> Void) { send(.inspect(body)) }

  /// Does a change in the next turn; `completion` is called once it is durable, or refused.
  func write<Value>(
    _ completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void,
    _ body: @escaping (SchedulerCore, any StoreTransaction, WallTime) throws -> Value
  ) {
    send(.input(.write(Write(completion, body))))
  }
}
