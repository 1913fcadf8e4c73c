import TaskModel

extension Scheduler {
  /// A command to the scheduler's thread.
  enum Command {
    /// An input for the next turn. A begin alone does not wake the thread.
    case input(EngineInput)
    case inspect((SchedulerCore, WallTime) -> Void)
    case conditions(ConditionReport)
    /// Expire the identifier's live runs as if their budget were spent.
    case expire(TaskIdentifier, (Result<[RunID], RequestRefusal>) -> Void)
    case drain(deadline: MonotonicTime, drained: @Sendable () -> Void)
    /// The runs that hold execution assertions now.
    case spare(Set<RunID>)
    case force
    /// Stop the live runs of the fleet's requests by force.
    case forceLeased
    /// Put a plan in force, or only see whether that can be done.
    case adopt(Adoption)
  }

  /// A plan on its way into force.
  struct Adoption {
    let plan: SchedulingPlan
    let isRehearsal: Bool
    /// Called once it is durable, or refused, or its rehearsal is undone.
    let completion: (Result<AdoptedPlan, RequestRefusal>) -> Void
  }

  /// Calls `body` on the scheduler's thread, between turns.
  func inspect(_ body: @escaping (SchedulerCore, WallTime) -> Void) { send(.inspect(body)) }

  /// Calls `body` on the scheduler's thread, between turns, with the number of live runs.
  public func whenScheduled(_ body: @escaping @Sendable (_ live: Int) -> Void) { inspect { core, _ in body(core.live.count) } }

  /// Makes a change in the next turn; calls `completion` once it is durable, or refused.
  func write<Value>(
    _ completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void,
    _ body: @escaping (SchedulerCore, any StoreTransaction, WallTime) throws -> Value
  ) {
    send(.input(.write(Write(completion, body))))
  }
}
