import Synchronization
package import TaskModel

/// A store whose commits fail when the test wishes so: after the work was done, before any of it is kept.
package final class FailingStore: RequestStore {
  private let base: any RequestStore
  private let failure = Mutex<StoreError?>(nil)

  /// Does what `base` does, as long as commits work.
  package init(_ base: any RequestStore) { self.base = base }

  /// From now on commits fail with `error`; nil: they work.
  package func fail(with error: StoreError?) { failure.withLock { $0 = error } }

  package var origin: UInt64 { base.origin }

  package func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    try base.commit { transaction in
      let value = try body(transaction)
      if let error = failure.withLock({ $0 }) { throw error }
      return value
    }
  }

  package func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] { try base.requests(query) }
  package func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests {
    try base.scan(scan, accepts: accepts)
  }
  package func request(_ id: RequestID) throws(StoreError) -> RequestRecord? { try base.request(id) }
  package func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try base.pendingRequests(of: identifiers, after: request)
  }
  package func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] { try base.runs(query) }
  package func run(_ id: RunID) throws(StoreError) -> RunRecord? { try base.run(id) }
  package func close() { base.close() }
  package func giveBackMemory() { base.giveBackMemory() }
  package func counts() throws(StoreError) -> [RequestState: Int] { try base.counts() }
  package func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? {
    try base.stateValue(key, of: identifier)
  }
  package func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? { try base.checkpoint(of: request) }
  package func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] { try base.edges(of: id) }
  package func deadLetters() throws(StoreError) -> [DeadLetters] { try base.deadLetters() }
  package func schedules(limit: Int, onlyFailing: Bool) throws(StoreError) -> [ScheduleRecord] {
    try base.schedules(limit: limit, onlyFailing: onlyFailing)
  }
  package func scheduleSums() throws(StoreError) -> [TaskIdentifier: ScheduleSum] { try base.scheduleSums() }
  package func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord] { try base.overdue(by: time) }
  package func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] { try base.lastRuns() }
  package func highestSequence() throws(StoreError) -> Int64 { try base.highestSequence() }
}
