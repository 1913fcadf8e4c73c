public import TaskModel

/// What a reload puts in force at once.
public struct SchedulingPlan: Sendable {
  /// The operator's rules.
  public var policy: SchedulingPolicy
  /// The registered handlers: all of them.
  public var contracts: [HandlerContract]
  /// The requests that the configuration asks for: all of them.
  public var schedules: [ScheduleName: ScheduledRequest]
  /// What new plugins asked for while they launched, in order.
  public var changes: [PluginLaunchChange] = []
  /// Returns why a submission's payload is refused; see ``Scheduler``'s start.
  public var rejection: @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }
  /// What is submitted when requests of an identifier end.
  public var completions: CompletionRule?
  /// Called on the scheduler's thread once the plan is durable, before anything begins under it; must return promptly. Returns the launcher of
  /// runs from then on, which stops live runs too; nil for the same as before.
  public var adopted: @Sendable () -> (any Launcher)? = { nil }

  /// Creates a plan.
  public init(policy: SchedulingPolicy, contracts: [HandlerContract], schedules: [ScheduleName: ScheduledRequest]) {
    (self.policy, self.contracts, self.schedules) = (policy, contracts, schedules)
  }
}

/// What became of a plan that is in force.
public struct AdoptedPlan: Sendable {
  /// The launch submissions that were refused.
  public var refused: [(TaskRequest, RequestRefusal)] = []
}

/// A plan with what the store knows of runs and notifications under its rules.
struct PreparedPlan {
  let plan: SchedulingPlan
  var limits: LimitTracker
  var notices: NoticeBook?
}

extension Scheduler {
  /// Puts a plan in force, in one commit: the stored requests of `schedule` lines then match it, and what is due begins under it. Live runs
  /// continue. Waits until the requests that are handed out ahead have come back. If it is refused or cannot be recorded, nothing has changed.
  ///
  /// - Parameters:
  ///   - isRehearsal: Whether only to see if it would be refused: it is undone in the same commit.
  ///   - completion: Called on the scheduler's thread.
  public func adopt(
    _ plan: SchedulingPlan, isRehearsal: Bool = false, completion: @escaping @Sendable (Result<AdoptedPlan, RequestRefusal>) -> Void
  ) {
    send(.adopt(Adoption(plan: plan, isRehearsal: isRehearsal, completion: completion)))
  }
}
