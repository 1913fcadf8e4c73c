import TaskModel

/// What arrived for a turn of the engine.
enum EngineInput {
  /// A change to the store that somebody waits for.
  case write(Write)
  /// A run ended.
  case ended(RunID, RunEnding, RunReport)
  /// A run that waited in its launcher's queue, or whose begin counts, began then.
  case began(RunID, WallTime)
  /// A run does not begin: its launcher gave it back, or the scheduler held it for too long.
  case withdrawn(RunID)
}

/// A change to the store with who waits for it.
struct Write {
  /// Does the change; what it returns is called once it is durable.
  let perform: (SchedulerCore, any StoreTransaction, WallTime) throws -> () -> Void
  /// Called if the change is refused, or cannot be committed.
  let fail: (RequestRefusal) -> Void

  /// Does `body`; `completion` is called once that is durable, or refused.
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

/// A change that waits until its requests, which are handed out ahead, are back.
struct ParkedWrite {
  let write: Write
  /// Nil: all requests.
  let identifier: TaskIdentifier?
}
