import MemoryStore
import StoreTestSupport
import TaskModel

@testable import TaskHost
@testable import TaskScheduler

/// The scheduler's core under a configuration that is read from its text, on a store in memory, with a calendar that the test sets.
final class ConfiguredHost {
  let configuration: HostConfiguration
  let core: SchedulerCore
  private let store: any RequestStore = MemoryRequestStore(origin: 7)
  /// What the calendar shows.
  var now = WallTime.testStart
  /// The runs that were begun and have not ended, by their request.
  private(set) var orders: [RequestID: RunOrder] = [:]
  /// The requests in the order their runs were begun.
  private(set) var begun: [RequestID] = []

  static let task = TaskIdentifier.sample()
  static let other = TaskIdentifier.sample("org.example.other")

  /// A host whose `task` and `other` allow eight runs at once.
  init(_ text: String) throws {
    configuration = try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml")
    var policy = configuration.schedulingPolicy()
    policy.claimAhead = .zero
    core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: 0, now: now)
    core.register(
      [Self.task, Self.other].map {
        HandlerContract(identifier: $0, kind: .refresh, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: 8)
      })
    let schedules = try configuration.schedules()
    try turn { core, transaction in try core.reconcile(schedules, transaction, now: now) }
  }

  @discardableResult func turn<Value>(_ change: (SchedulerCore, any StoreTransaction) throws -> Value) throws -> Value {
    core.beginTurn()
    let result = try store.commit { transaction throws -> Result<Value, RequestRefusal> in
      let before = core.turn.mark
      let result: Result<Value, RequestRefusal>
      do { result = .success(try transaction.savepoint { try change(core, transaction) }) } catch let refusal as RequestRefusal {
        core.takeBack(to: before)
        result = .failure(refusal)
      }
      try core.dispatch(transaction, now: now)
      return result
    }
    core.committed(core.turn)
    for entry in core.turn.ended { orders[entry.request] = nil }
    for order in core.turn.orders {
      orders[order.request] = order
      begun.append(order.request)
      if order.tellsBegin { core.begin(order.run, at: now, now: now) }
    }
    return try result.get()
  }

  @discardableResult func submit(_ identifier: TaskIdentifier = task, _ change: (inout TaskRequest) -> Void = { _ in }) throws -> Submission
  {
    var request = TaskRequest(identifier: identifier)
    change(&request)
    return try turn { core, transaction in try core.submit(request, transaction, now: now) }
  }

  func end(_ id: RequestID, _ result: TaskResult = .success) throws {
    guard let order = orders[id] else { throw ConfigurationKeyTests.Failure(description: "\(id) does not run") }
    try turn { core, transaction in try core.end(order.run, .returned(result, stop: nil), RunReport(), transaction, now: now) }
  }

  /// Lets the calendar go on, and has a turn then.
  func pass(_ duration: Duration) throws {
    now = now + duration
    try turn { _, _ in }
  }

  /// The machine is so from now on.
  func set(_ held: Conditions) throws {
    core.conditions = ConditionReport(
      states: Conditions.named.map {
        ConditionState(condition: $0.condition, holds: held.contains($0.condition), since: now, observed: "as the test says")
      })
    try turn { _, _ in }
  }

  func isRunning(_ id: RequestID) -> Bool { orders[id] != nil }

  func record(_ id: RequestID) throws -> RequestRecord {
    guard let record = try store.request(id) else { throw ConfigurationKeyTests.Failure(description: "\(id) is gone") }
    return record
  }
}
