import MemoryStore
package import TaskModel

/// A host's own store, and in memory the requests that it holds for its fleet. The scheduler sees one store.
///
/// A request belongs to the side that its id's origin names. What the fleet gave is durable in the fleet's database, so memory is enough
/// here: after a crash, the fleet gives it to another host. All other data is in the own store.
package final class LeasedRequestStore: RequestStore {
  package let own: any RequestStore
  let leased: MemoryRequestStore

  /// - Parameter fleet: The 62 bits that all ids of the fleet share.
  package init(_ own: any RequestStore, fleet: UInt64) {
    self.own = own
    leased = MemoryRequestStore(origin: fleet)
  }

  package var origin: UInt64 { own.origin }

  /// The own store commits within the other's commit: memory alone cannot fail after that.
  package func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    try leased.commit { leased in try own.commit { own in try body(LeasedTransaction(own: own, leased: leased, fleet: self.leased.origin)) }
    }
  }

  private func side(of origin: UInt64) -> any RequestStore { origin == leased.origin ? leased : own }

  // MARK: Reading

  package func request(_ id: RequestID) throws(StoreError) -> RequestRecord? { try side(of: id.origin).request(id) }

  package func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] { try side(of: id.origin).edges(of: id) }

  package func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? {
    try side(of: request.origin).checkpoint(of: request)
  }

  package func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] {
    let found = try own.requests(query) + leased.requests(query)
    let sorted = found.sorted { query.dueBy == nil ? $0.id > $1.id : ($0.due, $0.id) < ($1.due, $1.id) }
    return Array(sorted.prefix(max(1, query.limit)))
  }

  package func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord] {
    try (own.overdue(by: time) + leased.overdue(by: time)).sorted { ($0.due, $0.id) < ($1.due, $1.id) }
  }

  package func counts() throws(StoreError) -> [RequestState: Int] { try own.counts().merging(leased.counts(), uniquingKeysWith: +) }

  // MARK: The own store's alone

  package func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests {
    try own.scan(scan, accepts: accepts)
  }

  package func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try own.pendingRequests(of: identifiers, after: request)
  }

  package func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] { try own.runs(query) }

  package func run(_ id: RunID) throws(StoreError) -> RunRecord? { try own.run(id) }

  package func schedules(limit: Int, onlyFailing: Bool) throws(StoreError) -> [ScheduleRecord] {
    try own.schedules(limit: limit, onlyFailing: onlyFailing)
  }

  package func scheduleSums() throws(StoreError) -> [TaskIdentifier: ScheduleSum] { try own.scheduleSums() }

  package func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] { try own.lastRuns() }

  package func deadLetters() throws(StoreError) -> [DeadLetters] { try own.deadLetters() }

  package func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? {
    try own.stateValue(key, of: identifier)
  }

  package func highestSequence() throws(StoreError) -> Int64 { try own.highestSequence() }

  package func giveBackMemory() { own.giveBackMemory() }

  package func close() {
    own.close()
    leased.close()
  }
}
