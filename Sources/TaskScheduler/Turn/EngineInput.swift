import TaskModel

/// An input to a turn of the engine.
enum EngineInput {
  /// A change to the store, with its completion.
  case write(Write)
  /// A run ended.
  case ended(RunID, RunEnding, RunReport)
  /// A run began at that time: it had waited in its launcher's queue, or its begin counts.
  case began(RunID, WallTime)
  /// A run will not begin: its launcher gave it back, or the scheduler held it too long.
  case withdrawn(RunID)
}

/// A change to the store, with its completion.
struct Write {
  /// Makes the change; returns what to call once it is durable.
  let perform: (SchedulerCore, any StoreTransaction, WallTime) throws -> () -> Void
  /// Called if the change is refused or cannot be committed.
  let fail: (RequestRefusal) -> Void

  /// Runs `body`; calls `completion` once that is durable, or refused.
  init<Value>(
    _ completion: @escaping (Result<Value, RequestRefusal>) -> Void,
    _ body: @escaping (SchedulerCore, any StoreTransaction, WallTime) throws -> Value
  ) {
    perform = { core, transaction, now in
      let value = try body(core, transaction, now)
      return { completion(.success(value)) }
    }
    fail = { completion(.failure($0)) }
  }
}

/// A change that waits until its requests, handed out ahead, are back.
struct ParkedWrite {
  let write: Write
  /// Nil means all requests.
  let identifier: TaskIdentifier?
}
