import TaskModel

// What is sent to the thread.

extension Scheduler {
  /// Something sent to the thread.
  enum Command {
    case write(Write)
    case ended(RunID, RunEnding, RunReport)
    /// When, by the wall clock. It rides on what else wakes the thread.
    case began(RunID, WallTime)
    case withdrawn(RunID)
    case inspect((SchedulerCore, WallTime) -> Void)
    case conditions(ConditionReport)
    case drain(deadline: MonotonicTime, drained: @Sendable () -> Void)
    case force
  }

  /// A change to the store with who waits for it.
  struct Write {
    /// Does the change; what it returns is called once it is durable.
    let perform: (SchedulerCore, any StoreTransaction, WallTime) throws -> () -> Void
    let fail: (RequestRefusal) -> Void
  }

  /// A change that waits until its requests, which are handed out ahead, are back.
  struct ParkedWrite {
    let write: Write
    /// Nil: all requests.
    let identifier: TaskIdentifier?
  }

  /// Calls `body` on the thread, between turns.
  func inspect(_ body: @escaping (SchedulerCore, WallTime) -> Void) { send(.inspect(body)) }

  /// Does a change in the next turn; `completion` is called once it is durable, or refused.
  func write<Value>(
    _ completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void,
    _ body: @escaping (SchedulerCore, any StoreTransaction, WallTime) throws -> Value
  ) {
    send(
      .write(
        Write(
          perform: { core, transaction, now in
            let value = try body(core, transaction, now)
            return { completion(.success(value)) }
          }, fail: { completion(.failure($0)) })))
  }
}
