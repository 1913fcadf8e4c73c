import GRDB
import GRDBSQLite
import HostThreads
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler
@testable import TaskStore

/// A store that tells after each commit how many lanes it remembers, and when it was asked to give memory back.
private final class WatchedStore: RequestStore {
  private let base: SQLiteRequestStore
  let laneCounts: AsyncStream<Int>
  private let told: AsyncStream<Int>.Continuation
  let rests: AsyncStream<Void>
  private let rested: AsyncStream<Void>.Continuation
  let restCount = Guarded(0)

  init(_ base: SQLiteRequestStore) {
    self.base = base
    (laneCounts, told) = AsyncStream.makeStream()
    (rests, rested) = AsyncStream.makeStream()
  }

  var origin: UInt64 { base.origin }

  func commit<Value>(_ body: (any StoreTransaction) throws -> Value) throws(StoreError) -> Value {
    let value = try base.commit(body)
    told.yield(base.lanes.count)
    return value
  }

  func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(StoreError) -> ScannedRequests {
    try base.scan(scan, accepts: accepts)
  }
  func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] { try base.requests(query) }
  func request(_ id: RequestID) throws(StoreError) -> RequestRecord? { try base.request(id) }
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(StoreError) -> PendingPage {
    try base.pendingRequests(of: identifiers, after: request)
  }
  func runs(_ query: RunQuery) throws(StoreError) -> [RunRecord] { try base.runs(query) }
  func run(_ id: RunID) throws(StoreError) -> RunRecord? { try base.run(id) }
  func close() { base.close() }
  func giveBackMemory() {
    base.giveBackMemory()
    restCount.withLock { $0 += 1 }
    rested.yield()
  }
  func counts() throws(StoreError) -> [RequestState: Int] { try base.counts() }
  func stateValue(_ key: String, of identifier: TaskIdentifier) throws(StoreError) -> [UInt8]? { try base.stateValue(key, of: identifier) }
  func checkpoint(of request: RequestID) throws(StoreError) -> [UInt8]? { try base.checkpoint(of: request) }
  func edges(of id: RequestID) throws(StoreError) -> [DependencyRecord] { try base.edges(of: id) }
  func deadLetters() throws(StoreError) -> [DeadLetters] { try base.deadLetters() }
  func schedules(limit: Int, onlyFailing: Bool) throws(StoreError) -> [ScheduleRecord] {
    try base.schedules(limit: limit, onlyFailing: onlyFailing)
  }
  func scheduleSums() throws(StoreError) -> [TaskIdentifier: ScheduleSum] { try base.scheduleSums() }
  func overdue(by time: WallTime) throws(StoreError) -> [RequestRecord] { try base.overdue(by: time) }
  func lastRuns() throws(StoreError) -> [TaskIdentifier: RunRecord] { try base.lastRuns() }
  func highestSequence() throws(StoreError) -> Int64 { try base.highestSequence() }
}

@Suite("Housekeeping", .timeLimit(.minutes(10))) struct HousekeepingTests {
  @Test("removes the lanes of keys that have come and gone, while nothing else is to do")
  func lanes() async throws {
    let directory = try TemporaryDirectory()
    let base = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    let store = WatchedStore(base)
    defer { store.close() }
    try store.commit { transaction in
      for number in 1...3000 as ClosedRange<Int64> {
        var record = RequestRecord.sample(number, origin: store.origin, due: number == 7 ? .distantFuture : .testStart)
        record.request.gates = RunConstraints(concurrencyKey: "k\(number)")
        try transaction.insert(record)
        guard number != 7 else { continue }
        let (id, run) = (record.id, RunID(sequence: 10_000 + number, origin: store.origin))
        try transaction.start(id, run: run, at: .testStart)
        try transaction.succeed(id, run: run, began: nil, outcome: .succeeded, message: nil, at: SystemClock().wallTime)
      }
    }
    #expect(base.lanes.count == 3000)
    let launcher = RecordingLauncher(ending: nil)
    let scheduler = try Scheduler(policy: SchedulingPolicy(), store: store, clock: SystemClock())
    _ = try scheduler.start(launcher, contracts: [.sample()], schedules: [:])
    defer { scheduler.stop() }
    for await count in store.laneCounts where count <= 1 { break }
    #expect(try store.counts() == [.succeeded: 2999, .pending: 1])
    #expect(base.lanes.count == 1)
  }

  @Test("an idle host's store gives its cache back once, and answers as before")
  func rest() async throws {
    let directory = try TemporaryDirectory()
    let base = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    let store = WatchedStore(base)
    defer { store.close() }
    try store.commit { transaction in
      for number in 1...3000 as ClosedRange<Int64> {
        try transaction.insert(.sample(number, origin: store.origin, due: .distantFuture))
      }
    }
    let before = try Self.cacheBytes(base)
    let scheduler = try Scheduler(policy: SchedulingPolicy(), store: store, clock: SystemClock())
    scheduler.rest = .milliseconds(1)
    _ = try scheduler.start(RecordingLauncher(ending: nil), contracts: [.sample()], schedules: [:])
    defer { scheduler.stop() }
    for await _ in store.rests { break }
    let after = try Self.cacheBytes(base)
    #expect(before > 200_000 && after < before / 4, "\(before) bytes, then \(after)")
    #expect(try store.counts() == [.pending: 3000])
    scheduler.stop()
    #expect(store.restCount.withLock { $0 } == 1)
  }

  /// What the writing connection keeps of the file.
  private static func cacheBytes(_ store: SQLiteRequestStore) throws -> Int32 {
    try store.pool.writeWithoutTransaction { database in
      var (now, most) = (Int32(0), Int32(0))
      guard sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_USED, &now, &most, 0) == SQLITE_OK else {
        throw StoreError.other("no status")
      }
      return now
    }
  }
}
