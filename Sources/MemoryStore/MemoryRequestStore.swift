import HostThreads
public import TaskModel

/// The store in memory, for simulations and tests. It implements the whole contract except durability.
///
/// Only one thread uses the store at a time; others wait. The body of a commit must use only its transaction: reading from the store itself
/// there deadlocks.
public final class MemoryRequestStore: RequestStore, @unchecked Sendable {  // reason: the tables are touched with `monitor` held only
  /// The given origin, or one drawn at random.
  public let origin: UInt64
  private let monitor = Monitor()
  private let tables: MemoryTransaction
  private var isClosed = false

  /// Creates an empty store.
  ///
  /// - Parameter origin: The 62 bits that all ids of the store share; nil for random ones.
  public init(origin: UInt64? = nil) {
    self.origin = (origin ?? UInt64.random(in: .min ... .max)) & 0x3FFF_FFFF_FFFF_FFFF
    tables = MemoryTransaction(origin: self.origin)
  }

  /// Runs on the calling thread; others wait meanwhile.
  public func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    try access { tables in
      do {
        let value = try body(tables)
        tables.commit()
        return value
      } catch {
        tables.rollBack()
        throw error
      }
    }
  }

  /// Closes the store. Its content is freed with the last reference to it.
  public func close() { monitor.locked { isClosed = true } }

  /// Does nothing, because the store has no caches.
  public func giveBackMemory() {}

  // MARK: Reading

  /// Examines every request.
  public func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] {
    try access { tables in
      let found = tables.rows.values.filter { query.matches($0.record) }
      let sorted = found.sorted {
        query.dueBy == nil ? $0.sequence > $1.sequence : ($0.record.due, $0.sequence) < ($1.record.due, $1.sequence)
      }
      return sorted.prefix(max(1, query.limit)).map(\.record)
    }
  }

  /// Sorts all requests.
  public func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests {
    try access { tables in
      var found = ScannedRequests()
      func precedes(_ first: RequestID, _ second: RequestID) -> Bool { scan.oldestFirst ? first < second : first > second }
      let rows = tables.rows.values.sorted { precedes($0.record.id, $1.record.id) }
      for row in rows {
        var record = row.record
        if let after = scan.after, !precedes(after, record.id) { continue }
        guard scan.covers(record) else { continue }
        if scan.readsPayload { record.request.payload = row.payload }
        guard accepts(record) else { continue }
        record.request.payload = []
        found.records.append(record)
        guard found.records.count < max(1, scan.limit) else {
          found.next = record.id
          break
        }
      }
      return found
    }
  }

  /// Includes the payload.
  public func request(_ id: RequestID) throws(StoreError) -> RequestRecord? {
    try access { tables in
      guard let row = tables.row(id) else { return nil }
      var record = row.record
      record.request.payload = row.payload
      return record
    }
  }

  /// Sorts the waiting requests of these identifiers.
  public func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try access { tables in
      let rows = Set(identifiers).flatMap { tables.waitingRows(of: $0) }.filter { row in request.map { row.record.id > $0 } ?? true }
        .sorted { $0.sequence < $1.sequence }.prefix(PendingPage.requestLimit)
      return PendingPage(of: rows.map(\.record)) { tables.row($0)?.payload ?? [] }
    }
  }

  /// Examines runs from the newest until it has found enough.
  public func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] {
    try access { tables in
      var found: [RunRecord] = []
      tables.runOrder.visitReversed { key in
        guard let run = tables.runs[key.id] else { return true }
        // A run is created after its request, and ids increase.
        if let request = query.request, key.id <= request.sequence { return false }
        guard query.matches(run) else { return true }
        found.append(run.listed)
        return found.count < max(1, query.limit)
      }
      return found
    }
  }

  /// Finds the run by its id.
  public func run(_ id: RunID) throws(StoreError) -> RunRecord? {
    try access { id.origin == origin ? $0.runs[id.sequence] : nil }
  }

  /// Finds the edges by the request.
  public func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] {
    try access { $0.edges[id.sequence] ?? [] }
  }

  /// Examines every run.
  public func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] {
    try access { tables in
      var last: [TaskIdentifier: RunRecord] = [:]
      for run in tables.runs.values where last[run.identifier].map({ $0.id < run.id }) ?? true { last[run.identifier] = run.listed }
      return last
    }
  }

  /// Examines every schedule and every request.
  public func schedules(limit: Int, onlyFailing: Bool) throws(StoreError) -> [ScheduleRecord] {
    try access { tables in
      let failing = tables.schedules.filter { $0.value.failures > 0 }.keys.sorted().prefix(limit)
      let others = onlyFailing ? [] : tables.schedules.keys.sorted().prefix(limit).filter { !failing.contains($0) }
      var found = (failing + others).prefix(limit).compactMap { key -> ScheduleRecord? in
        let known = tables.schedules[key] ?? MemorySchedule()
        let request: RequestRecord? =
          switch key.subject {
          case .others: nil
          case .key(let text): tables.holders[OwnedKey(text.text, of: key.identifier)].flatMap { tables.rows[$0]?.record }
          case .request(let sequence): tables.rows[sequence]?.record
          }
        // A finished repeating request without a key has no name.
        if case .request = key.subject, request?.state.isFinal ?? true { return nil }
        return ScheduleRecord(
          identifier: key.identifier, key: key.subject.key, request: request.flatMap { $0.state.isFinal ? nil : $0 },
          lastRun: known.run.flatMap { tables.runs[$0] }.map(\.listed), lastSuccess: known.lastSuccess, failures: known.failures,
          failingSince: known.failingSince)
      }
      if onlyFailing { return ScheduleRecord.listed(found) }
      let shown = Set(found.compactMap(\.request?.id))
      let repeating = tables.rows.values.map(\.record).filter { !$0.state.isFinal && $0.isRepeating && !shown.contains($0.id) }
      for record in repeating.sorted(by: { $0.id < $1.id }).prefix(limit) {
        found.append(ScheduleRecord(identifier: record.request.identifier, key: record.request.uniqueKey, request: record))
      }
      return ScheduleRecord.listed(found)
    }
  }

  /// Examines every schedule.
  public func scheduleSums() throws(StoreError) -> [TaskIdentifier: ScheduleSum] {
    try access { tables in
      tables.schedules.reduce(into: [:]) { sums, entry in
        sums[entry.key.identifier, default: ScheduleSum()].note(
          ScheduleSum(lastSuccess: entry.value.lastSuccess, failures: entry.value.failures))
      }
    }
  }

  /// Examines every lane.
  public func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord] {
    try access { tables in
      tables.lanes.values.compactMap { lane in lane.first.flatMap { tables.rows[$0.id]?.record } }
        .filter { $0.state == .pending && $0.due <= time }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }
  }

  /// Examines every request.
  public func deadLetters() throws(StoreError) -> [DeadLetters] {
    try access { tables in
      var letters: [TaskIdentifier: DeadLetters] = [:]
      for record in tables.rows.values.lazy.map(\.record) where record.state == .failed {
        let identifier = record.request.identifier
        let known = letters[identifier]
        let oldest = [known?.oldest, record.ended].compactMap(\.self).min()
        letters[identifier] = DeadLetters(identifier: identifier, count: (known?.count ?? 0) + 1, oldest: oldest)
      }
      return letters.values.sorted { $0.identifier < $1.identifier }
    }
  }

  /// The counts are kept up to date with each change.
  public func counts() throws(StoreError) -> [RequestState: Int] { try access { $0.counts.filter { $0.value > 0 } } }

  /// The number of lanes, including empty ones.
  var laneCount: Int { monitor.locked { tables.lanes.count } }

  /// Finds the value by its key.
  public func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? {
    try access { $0.owners[identifier]?.state[ExactText(key)] }
  }

  /// All values of the identifier's state.
  package func state(of identifier: TaskIdentifier) throws(StoreError) -> [String: [UInt8]] {
    try access { tables in
      let values = (tables.owners[identifier]?.state ?? [:]).map { ($0.key.text, $0.value) }
      return Dictionary(values) { first, _ in first }
    }
  }

  /// Finds the checkpoint by its request.
  public func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? {
    try access { $0.checkpoints[request.sequence] }
  }

  /// Examines every request.
  public func highestSequence() throws(StoreError) -> Int64 {
    try access { tables in
      var highest: Int64 = 0
      tables.runOrder.visitReversed { key in
        highest = key.id
        return false
      }
      for row in tables.rows.values { highest = max(highest, row.sequence, row.record.run?.sequence ?? 0) }
      return max(highest, tables.highestRemoved)
    }
  }

  private func access<Value>(_ body: (MemoryTransaction) throws -> Value) throws(StoreError) -> Value {
    do {
      return try monitor.locked {
        guard !isClosed else { throw StoreError.other("the store is closed") }
        return try body(tables)
      }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError.other("\(error)")
    }
  }
}
