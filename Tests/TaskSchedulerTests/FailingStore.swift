import HostThreads
import TaskModel

/// A store whose commits fail when the test wishes so: after the work was done, before any of it is kept.
final class FailingStore: RequestStore {
  private let base: any RequestStore
  private let failure = Guarded<StoreError?>(nil)

  init(_ base: any RequestStore) { self.base = base }

  /// From now on commits fail with `error`; nil: they work.
  func fail(with error: StoreError?) { failure.withLock { $0 = error } }

  var origin: UInt64 { base.origin }

  func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    try base.commit { transaction in
      let value = try body(transaction)
      if let error = failure.withLock({ $0 }) { throw error }
      return value
    }
  }

  func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] { try base.requests(query) }
  func request(_ id: RequestID) throws(StoreError) -> RequestRecord? { try base.request(id) }
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try base.pendingRequests(of: identifiers, after: request)
  }
  func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] { try base.runs(query) }
  func run(_ id: RunID) throws(StoreError) -> RunRecord? { try base.run(id) }
  func close() { base.close() }
  func giveBackMemory() { base.giveBackMemory() }
  func counts() throws(StoreError) -> [RequestState: Int] { try base.counts() }
  func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? { try base.stateValue(key, of: identifier) }
  func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? { try base.checkpoint(of: request) }
  func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] { try base.edges(of: id) }
  func deadLetters() throws(StoreError) -> [DeadLetters] { try base.deadLetters() }
  func schedules(limit: Int) throws(StoreError) -> [ScheduleRecord] { try base.schedules(limit: limit) }
  func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord] { try base.overdue(by: time) }
  func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] { try base.lastRuns() }
  func highestSequence() throws(StoreError) -> Int64 { try base.highestSequence() }
}
