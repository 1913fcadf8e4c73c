import MemoryStore
import StoreTestSupport
import TaskModel

@testable import TaskHost
@testable import TaskScheduler

/// The scheduling engine under a configuration that is read from its text, on a store in memory, with a calendar that the test sets.
final class ConfiguredHost {
  let configuration: HostConfiguration
  private let engine: SchedulingEngine
  var core: SchedulerCore { engine.core }
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
    engine = SchedulingEngine(SchedulerCore(policy: policy, origin: store.origin, lastSequence: 0, now: now), store: store)
    let contracts = [Self.task, Self.other].map {
      HandlerContract(identifier: $0, kind: .refresh, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: 8)
    }
    _ = try engine.open(contracts, schedules: configuration.scheduledRequests(), now: now, at: Self.moment)
    try turn()
  }

  /// Budgets and waits are no matter here.
  private static let moment = MonotonicTime(nanoseconds: 0)

  @discardableResult func turn<Value>(_ change: @escaping (SchedulerCore, any StoreTransaction) throws -> Value) throws -> Value {
    var result: Result<Value, RequestRefusal>?
    try turn([.write(Write({ result = $0 }) { core, transaction, _ in try change(core, transaction) })])
    guard let result else { throw ConfigurationKeyTests.Failure(description: "the change waits for a launcher") }
    return try result.get()
  }

  private func turn(_ arrived: [EngineInput] = []) throws {
    let turn = try engine.turn(arrived, now: now, at: Self.moment)
    for entry in turn.ended { orders[entry.request] = nil }
    for order in turn.orders {
      orders[order.request] = order
      begun.append(order.request)
      if order.tellsBegin { core.begin(order.run, at: now, now: now) }
    }
    for answer in turn.answers { answer() }
  }

  @discardableResult func submit(_ identifier: TaskIdentifier = task, _ change: (inout TaskRequest) -> Void = { _ in }) throws -> Submission
  {
    var request = TaskRequest(identifier: identifier)
    change(&request)
    return try turn { core, transaction in try core.submit(request, transaction, now: self.now) }
  }

  func end(_ id: RequestID, _ result: TaskResult = .success) throws {
    guard let order = orders[id] else { throw ConfigurationKeyTests.Failure(description: "\(id) does not run") }
    try turn([.ended(order.run, .returned(result, stop: nil), RunReport())])
  }

  /// Lets the calendar go on, and has a turn then.
  func pass(_ duration: Duration) throws {
    now = now + duration
    try turn()
  }

  /// The machine is so from now on.
  func set(_ held: Conditions) throws {
    core.conditions = ConditionReport(
      states: Conditions.named.map {
        ConditionState(condition: $0.condition, holds: held.contains($0.condition), since: now, observed: "as the test says")
      })
    try turn()
  }

  func isRunning(_ id: RequestID) -> Bool { orders[id] != nil }

  func record(_ id: RequestID) throws -> RequestRecord {
    guard let record = try store.request(id) else { throw ConfigurationKeyTests.Failure(description: "\(id) is gone") }
    return record
  }
}
