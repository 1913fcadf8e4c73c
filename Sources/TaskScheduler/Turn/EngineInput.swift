import TaskModel

/// An input to a turn of the engine.
enum EngineInput {
  /// A change to the store, with its completion.
  case write(Write)
  /// A run ended.
  case ended(RunID, RunEnding, RunReport)
  /// A run began at that time: it had waited in its launcher's queue, or a rate counts its begin.
  case began(RunID, WallTime)
  /// A run will not begin: its launcher returned it, or the scheduler cannot begin it now.
  case withdrawn(RunID)
  /// One of the ``HostEvents`` happened.
  case raised(String)
}

/// A change to the store, with its completion.
struct Write {
  /// Makes the change; returns a function to call once the change is durable.
  let perform: (SchedulerCore, any StoreTransaction, WallTime) throws -> () -> Void
  /// Called if the change is refused or cannot be committed.
  let fail: (RequestRefusal) -> Void
  /// Whether the change is undone once it is made: its answer says what it would do.
  let isRehearsal: Bool

  /// A change that runs `body` and calls `completion` once that is durable, or refused; of a rehearsal, once it is undone.
  init<Value>(
    _ completion: @escaping (Result<Value, RequestRefusal>) -> Void, isRehearsal: Bool = false,
    _ body: @escaping (SchedulerCore, any StoreTransaction, WallTime) throws -> Value
  ) {
    perform = { core, transaction, now in
      let value = try body(core, transaction, now)
      return { completion(.success(value)) }
    }
    fail = { completion(.failure($0)) }
    self.isRehearsal = isRehearsal
  }
}

/// A change that waits for requests that are handed out ahead to come back.
struct ParkedWrite {
  let write: Write
  /// The identifier of these requests; nil means all.
  let identifier: TaskIdentifier?
  /// Whether an earlier turn owes it: what led to it is durable, so a failed commit must not drop it.
  var isOwed = false
}
